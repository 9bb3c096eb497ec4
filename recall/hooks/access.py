"""The agent whose hooks are meant."""

from tenants.agents.projects import project_of
from tenants.agents.reading import read_agent
from tenants.agents.spec import AgentSpec
from tenants.caller import Caller
from tenants.errors import NotFound


def access_spec(*, caller: Caller, agent: str) -> AgentSpec:
    """What is declared of the agent. Raises NotFound; Forbidden for another agent than the key is bound to,
    or one of another project."""
    spec = read_agent(tenant_id=caller.tenant_id, name=caller.confine_agent(agent))
    if spec is None:
        raise NotFound("There is no such agent.")
    project_of(caller, spec.project)
    return spec
