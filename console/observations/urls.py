"""Observations: what agents and people noted on purpose."""

from console.observations import bulk, changing, listing, merging, reading
from console.routes import at

ONE = "observations/<int:observation_id>"

pages = [
    *at("observations", listing.ObservationsPage, "observations"),
    *at("observations/new", changing.NewPage, "observation-new"),
    *at("observations/figures", reading.FiguresPage, "observation-figures"),
    *at("observations/duplicates", merging.DuplicatesPage, "observation-duplicates"),
    *at("observations/many", bulk.BulkPage, "observation-bulk"),
    *at("observations/many/<uuid:bulk_id>", bulk.BulkJobPage, "observation-bulk-job"),
    *at("observations/export", bulk.ExportPage, "observation-export"),
    *at(ONE, reading.ObservationPage, "observation"),
    *at(f"{ONE}/history", reading.HistoryPage, "observation-history"),
    *at(f"{ONE}/timeline", reading.TimelinePage, "observation-timeline"),
    *at(f"{ONE}/edit", changing.EditPage, "observation-edit"),
    *at(f"{ONE}/reassign", changing.ReassignPage, "observation-reassign"),
    *at(f"{ONE}/trash", changing.TrashPage, "observation-trash"),
    *at(f"{ONE}/restore", changing.RestorePage, "observation-restore"),
    *at(f"{ONE}/delete", changing.DeletePage, "observation-delete"),
    *at(f"{ONE}/merge/<int:other_id>", merging.MergePage, "observation-merge"),
]
