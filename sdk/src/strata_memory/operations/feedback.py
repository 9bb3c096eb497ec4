# Written by `python -m sdk.generating` from the API's description; changes here are lost.
"""The operations of `feedback`."""

from ..calls import Operation
from ..models.feedback import Feedback, FeedbackPage

LIST: Operation[FeedbackPage] = Operation("GET", "/api/v1/feedback", answer=FeedbackPage)
CREATE: Operation[Feedback] = Operation(
    "POST", "/api/v1/feedback", answer=Feedback, is_write=True, is_kept=True
)
