from django.apps import AppConfig


class WebhooksConfig(AppConfig):
    """Telling others what happens to memories."""

    name = "webhooks"

    def ready(self) -> None:
        from tenants.jobs import kinds
        from tenants.privacy.registry import on_erased, on_exported
        from webhooks.announcing import announce_erased_subject, announce_exported_subject
        from webhooks.delivering import deliver_kind
        from webhooks.privacy import register_handlers

        register_handlers()
        kinds.register(deliver_kind())
        on_erased(announce_erased_subject)
        on_exported(announce_exported_subject)
