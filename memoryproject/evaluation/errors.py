"""What ends an evaluation. Each text is one sentence a person can act on."""


class EvaluationError(Exception):
    """The evaluation cannot go on."""
