"""What is known rather than remembered: documents and procedures."""

from console.knowledge import documents, procedures
from console.routes import at

pages = [
    *at("documents", documents.DocumentsPage, "documents"),
    *at("documents/new", documents.NewPage, "document-new"),
    *at("documents/<uuid:document_id>", documents.DocumentPage, "document"),
    *at("documents/<uuid:document_id>/delete", documents.DeletePage, "document-delete"),
    *at("procedures", procedures.ProceduresPage, "procedures"),
    *at("procedure/<path:procedure>", procedures.ProcedurePage, "procedure"),
    *at("procedure-roll-back/<path:procedure>", procedures.RollBackPage, "procedure-roll-back"),
]
