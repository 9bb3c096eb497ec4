"""Everything of one tenant or of all in one file, and back; docs/backup.md has what that means."""
