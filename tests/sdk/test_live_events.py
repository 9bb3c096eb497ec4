"""Live events through both clients, from a server that is killed and started again."""

from collections.abc import Callable
from typing import Any

import pytest

from sdk.tests.clients import LISTENING
from sdk.tests.sockets import answering, serving
from tests.conftest import Member
from tests.plugin import HOME
from tests.streaming.server import StreamServer, append

Listen = Callable[..., list[Any]]


@pytest.mark.parametrize("listen", LISTENING)
def test_a_server_that_is_killed_costs_no_event_and_brings_none_twice(listen: Listen, acme: Member) -> None:
    server = StreamServer(HOME / "web.log")
    append(acme, "s", *range(10))

    def enough(found: list[Any]) -> bool:
        if len(found) == 5:
            server.kill()
            append(acme, "s", *range(10, 20))  # nobody is there to tell it
            server.start()
        return len(found) == 20

    events = listen(server.url, enough, key=acme.key, after="0")
    server.stop()
    assert [one.content for one in events] == list(range(20))
    assert [one.seq for one in events] == list(range(1, 21))


@pytest.mark.parametrize("listen", LISTENING)
def test_the_stream_goes_on_where_the_link_says_and_finds_it_again(listen: Listen, acme: Member) -> None:
    """The main address tells nothing but the link: all that comes was told by the other."""
    server = StreamServer(HOME / "web.log")
    link = f'Link: <{server.url}/api/v1/events/stream>; rel="alternate"'
    main = f"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{link}\r\n\r\nretry: 1\n\n".encode()
    append(acme, "s", "before")
    with serving(answering(main)) as (url, asked):

        def enough(found: list[Any]) -> bool:
            if len(found) == 1:
                assert len(asked) == 1
                append(acme, "s", "live")
            elif len(found) == 2:
                assert len(asked) == 1
                server.kill()
                append(acme, "s", "killed")
                server.start()
            return len(found) == 3

        events = listen(url, enough, key=acme.key, session_id="s", after="0")
        assert len(asked) >= 2
    server.stop()
    assert [one.content for one in events] == ["before", "live", "killed"]
