"""Which servers the caller's settings name, so that they need not be embedded."""

from collections.abc import Mapping

from memoryproject.embedded.errors import CannotStart

DATABASE_SETTINGS = ("DATABASE_URL", "DATABASE_OWNER_URL", "DATABASE_ADMIN_URL")


def is_set(name: str, environ: Mapping[str, str]) -> bool:
    """Whether `name` is set, directly or by the file that `name`_FILE names."""
    return bool(environ.get(name) or environ.get(f"{name}_FILE"))


def database_is_elsewhere(environ: Mapping[str, str]) -> bool:
    """Raises CannotStart when only some of the three roles have a URL."""
    missing = [name for name in DATABASE_SETTINGS if not is_set(name, environ)]
    if missing and len(missing) < len(DATABASE_SETTINGS):
        raise CannotStart(
            f"Only some of {', '.join(DATABASE_SETTINGS)} are set; set {' and '.join(missing)} too, "
            "or none of them to use the embedded PostgreSQL."
        )
    return not missing


def redis_is_elsewhere(environ: Mapping[str, str]) -> bool:
    return is_set("REDIS_URL", environ)
