"""Where memories were used, and what was not written."""

from console.ledger import decisions, views
from console.routes import at

DECISION = "decisions/<uuid:decision_id>"

pages = [
    *at("ledger", views.LedgerPage, "ledger"),
    *at("ledger/<uuid:session_row>/<int:seq>", views.TurnPage, "ledger-turn"),
    *at("decisions", decisions.DecisionsPage, "decisions"),
    *at(DECISION, decisions.DecisionPage, "decision"),
    *at(f"{DECISION}/confirm", decisions.ConfirmPage, "decision-confirm"),
    *at(f"{DECISION}/reject", decisions.RejectPage, "decision-reject"),
]
