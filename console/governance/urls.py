"""Policy, keys, members, privacy, audit, isolation."""

from console.governance import invitations, keys, members, policy, privacy
from console.governance.audit import AuditPage
from console.governance.isolation import IsolationPage
from console.routes import at

pages = [
    *at("policy", policy.PolicyPage, "policy"),
    *at("policy/edit", policy.PolicyEditPage, "policy-edit"),
    *at("policy/history", policy.PolicyHistoryPage, "policy-history"),
    *at("policy/versions/<int:policy_version>/rollback", policy.PolicyRollbackPage, "policy-rollback"),
    *at("keys", keys.KeysPage, "keys"),
    *at("keys/new", keys.KeyNewPage, "key-new"),
    *at("keys/<slug:key_id>/rotate", keys.KeyRotatePage, "key-rotate"),
    *at("keys/<slug:key_id>/revoke", keys.KeyRevokePage, "key-revoke"),
    *at("members", members.MembersPage, "members"),
    *at("members/<uuid:member_id>/role", members.MemberRolePage, "member-role"),
    *at("members/<uuid:member_id>/remove", members.MemberRemovePage, "member-remove"),
    *at("invitations/new", invitations.InvitationNewPage, "invitation-new"),
    *at("invitations/<uuid:invitation_id>/revoke", invitations.InvitationRevokePage, "invitation-revoke"),
    *at("privacy", privacy.PrivacyPage, "privacy"),
    *at("privacy/export", privacy.ExportPage, "privacy-export"),
    *at("privacy/restrict", privacy.RestrictPage, "privacy-restrict"),
    *at("privacy/link", privacy.PersonLinkPage, "privacy-link"),
    *at("privacy/links/revoke", privacy.RevokeLinksPage, "privacy-links-revoke"),
    *at("privacy/erase", privacy.ErasePage, "privacy-erase"),
    *at("privacy/erasures/<uuid:erasure_id>", privacy.ErasureProgressPage, "privacy-erasure"),
    *at("privacy/receipts", privacy.ReceiptsPage, "privacy-receipts"),
    *at("privacy/receipts/<uuid:receipt_id>", privacy.ReceiptPage, "privacy-receipt"),
    *at("privacy/verify", privacy.VerifyPage, "privacy-verify"),
    *at("audit", AuditPage, "audit"),
    *at("isolation", IsolationPage, "isolation"),
]
