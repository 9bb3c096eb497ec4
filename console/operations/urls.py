"""Jobs, dead letters, webhooks: what runs behind the memory."""

from console.operations import deliveries, jobs, webhooks
from console.routes import at

JOB, WEBHOOK = "jobs/<uuid:job_id>", "webhooks/<uuid:webhook_id>"
DELIVERY = "deliveries/<uuid:delivery_id>"

pages = [
    *at("jobs", jobs.JobsPage, "jobs"),
    *at("jobs/live", jobs.JobsLivePart, "jobs-live"),
    *at(JOB, jobs.JobPage, "job"),
    *at(f"{JOB}/replay", jobs.JobReplayPage, "job-replay"),
    *at("dead-letters", jobs.DeadLettersPage, "dead-letters"),
    *at("dead-letters/replay", jobs.DeadLettersReplayPage, "dead-letters-replay"),
    *at("dead-letters/drop", jobs.DeadLettersDropPage, "dead-letters-drop"),
    *at("webhooks", webhooks.WebhooksPage, "webhooks"),
    *at("webhooks/new", webhooks.WebhookNewPage, "webhook-new"),
    *at(WEBHOOK, webhooks.WebhookPage, "webhook"),
    *at(f"{WEBHOOK}/edit", webhooks.WebhookEditPage, "webhook-edit"),
    *at(f"{WEBHOOK}/switch", webhooks.WebhookSwitchPage, "webhook-switch"),
    *at(f"{WEBHOOK}/secret", webhooks.WebhookSecretPage, "webhook-secret"),
    *at(f"{WEBHOOK}/rotate", webhooks.WebhookRotatePage, "webhook-rotate"),
    *at(f"{WEBHOOK}/test", webhooks.WebhookTestPage, "webhook-test"),
    *at(f"{WEBHOOK}/delete", webhooks.WebhookDeletePage, "webhook-delete"),
    *at("deliveries", deliveries.DeliveriesPage, "deliveries"),
    *at(DELIVERY, deliveries.DeliveryPage, "delivery"),
    *at(f"{DELIVERY}/replay", deliveries.DeliveryReplayPage, "delivery-replay"),
]
