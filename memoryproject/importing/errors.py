"""What can go wrong with a source, each with a sentence for whoever started the import."""


class ImportFailed(Exception):
    """The import cannot begin, or cannot go on."""


class SourceUnknown(ImportFailed):
    """What was named is nothing that this kind of source is read from."""


class SourceUnreachable(ImportFailed):
    """The source does not answer, not in time, or no longer."""


class SourceRefused(ImportFailed):
    """The source answers, and lets us not in."""


class SourceMalformed(ImportFailed):
    """From here on the source cannot be read."""


class Unusable(Exception):
    """One entry cannot be used; the others can."""
