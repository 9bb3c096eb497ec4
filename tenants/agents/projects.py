"""Projects: the name under which agents share what they know, in lower case."""

from tenants.agents.reading import read_agent
from tenants.agents.spec import normal_project
from tenants.caller import Caller
from tenants.errors import Forbidden


def project_of(caller: Caller, named: str | None) -> str:
    """The project that is meant: the one named, else the one that the key is bound to, by itself or through
    its agent; empty if there is none. Raises Forbidden when it names another than the key's."""
    wanted, bound = normal_project(named or ""), bound_project(caller)
    if bound and wanted and wanted != bound:
        raise Forbidden("This key is bound to another project.")
    return wanted or bound


def bound_project(caller: Caller) -> str:
    """The only project that the key reaches; empty if it reaches any. An agent's key reaches its agent's."""
    if caller.project or not caller.agent_id:
        return normal_project(caller.project)
    agent = read_agent(tenant_id=caller.tenant_id, name=caller.agent_id)
    return agent.project if agent else normal_project(caller.agent_id)
