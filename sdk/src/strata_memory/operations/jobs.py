# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `jobs`."""

from ..calls import Operation
from ..models.jobs import JobPage
from ..models.several import Job

LIST: Operation[JobPage] = Operation("GET", "/api/v1/jobs", answer=JobPage)
GET: Operation[Job] = Operation("GET", "/api/v1/jobs/{job_id}", answer=Job)
DOWNLOAD: Operation[bytes] = Operation("GET", "/api/v1/jobs/{job_id}/download", answer=bytes)
REPLAY: Operation[Job] = Operation("POST", "/api/v1/jobs/{job_id}/replay", answer=Job, is_write=True)
