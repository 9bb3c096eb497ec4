"""What keeps a backup or a restore from being made."""


class BackupError(Exception):
    """Told to whoever asked, as a sentence."""
