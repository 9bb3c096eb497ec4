"""Agents: what is declared of their memory, and what their tool hooks do."""

from console.agents import views
from console.routes import at

pages = [
    *at("agents", views.AgentsPage, "agents"),
    *at("agent-new", views.NewPage, "agent-new"),
    *at("agent/<path:agent>", views.AgentPage, "agent"),
    *at("agent-edit/<path:agent>", views.EditPage, "agent-edit"),
    *at("agent-hooks/<path:agent>", views.HooksPage, "agent-hooks"),
    *at("agent-forget/<path:agent>", views.ForgetPage, "agent-forget"),
]
