"""Trying recall, and seeing why a memory comes back."""

from console.recall_lab.cases import DeletePage, QueriesPage, SavePage, WhyPage
from console.recall_lab.views import LabPage, ResultsPart
from console.routes import at

pages = [
    *at("recall", LabPage, "recall"),
    *at("recall/results", ResultsPart, "recall-results"),
    *at("recall/why", WhyPage, "recall-why"),
    *at("recall/save", SavePage, "recall-save"),
    *at("recall/queries", QueriesPage, "recall-queries"),
    *at("recall/queries/<uuid:query_id>/delete", DeletePage, "recall-query-delete"),
]
