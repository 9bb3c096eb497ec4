"""Work that a commit causes and that is done after it: recorded with the commit, done exactly once.

`queue` takes work in, `kinds` says what there is to do, `runner` does it, `leases` and `querysets` keep two
workers from doing it twice. Celery carries the calls to run; what PostgreSQL holds is the truth, so a lost
message costs a moment, never a job.
"""
