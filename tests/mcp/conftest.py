import pytest

from tests.mcp.doors import Door


@pytest.fixture(params=["http-auto", "http-legacy", "stdio-auto", "stdio-legacy"])
def door(request: pytest.FixtureRequest, server: str) -> Door:
    """Every transport in both generations of the protocol."""
    transport, mode = request.param.split("-")
    return Door(transport, mode, server)


@pytest.fixture(params=["http", "stdio"])
def either(request: pytest.FixtureRequest, server: str) -> Door:
    """Every transport, for what does not depend on the generation."""
    return Door(request.param, "auto", server)


@pytest.fixture
def web(server: str) -> Door:
    """HTTP alone, for what does not depend on the transport."""
    return Door("http", "auto", server)
