"""Settings: every value comes from the environment and is described in docs/settings.md."""

from typing import Any

from celery.schedules import crontab
from redis.backoff import NoBackoff
from redis.exceptions import ConnectionError as RedisConnectionError
from redis.retry import Retry

from memoryproject import environment as env
from memoryproject.logs import configuration
from memoryproject.postgres import patient_for

BASE_DIR = env.BASE_DIR
MEMORY_HOME = env.memory_home()

SECRET_KEY = env.text("SECRET_KEY", "unset")  # tenants.E005 refuses to start with this value
DEBUG = env.flag("DEBUG", False)
HOST = env.text("HOST", "127.0.0.1")
PORT = env.number("PORT", 8002, minimum=1, maximum=65535)
WEB_THREADS = env.number("WEB_THREADS", 4, minimum=1)
STREAM_PORT = env.number("STREAM_PORT", 0, maximum=65535)
STREAM_URL = env.text("STREAM_URL")
STREAMS_PER_KEY = env.number("STREAMS_PER_KEY", 50, minimum=1)
STREAMS_PER_TENANT = env.number("STREAMS_PER_TENANT", 500, minimum=1)
ALLOWED_HOSTS = env.words("ALLOWED_HOSTS", "localhost,127.0.0.1,[::1]")
CSRF_TRUSTED_ORIGINS = env.words("CSRF_TRUSTED_ORIGINS")

INSTALLED_APPS = [
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "django_htmx",
    "tenants",
    "webhooks",
    "working",
    "ledger",
    "episodic",
    "observations",
    "knowledge",
    "recall",
    "console",
    "api",
    "memoryproject",
]

MIDDLEWARE = [
    "memoryproject.middleware.ObserveRequests",
    "memoryproject.browser.BrowserSecurity",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memoryproject.middleware.AdminPagesUseAdminRole",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
]

ROOT_URLCONF = "memoryproject.urls"
WSGI_APPLICATION = "memoryproject.wsgi.application"
APPEND_SLASH = False  # every route is served with and without it; a redirect would drop a POST's body

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ]
        },
    }
]

# ── PostgreSQL: one database, three roles ────────────────────────────────────────────────────────
DATABASE_POOL_SIZE = env.number("DATABASE_POOL_SIZE", 8, minimum=1)
DATABASE_TIMEOUT_SECONDS = env.number("DATABASE_TIMEOUT_SECONDS", 20, minimum=1)  # of silence; then 503
DATABASE_URLS = {
    "default": env.database_url("DATABASE_URL", "strata_app"),
    "owner": env.database_url("DATABASE_OWNER_URL", "strata_owner"),
    "admin": env.database_url("DATABASE_ADMIN_URL", "strata_admin"),
}
DATABASES: dict[str, Any] = {alias: env.database(url) for alias, url in DATABASE_URLS.items()}
DATABASES["default"]["OPTIONS"]["pool"] = {
    "min_size": 1,
    "max_size": DATABASE_POOL_SIZE,
    "timeout": 3,  # seconds to wait for a connection before answering 503
    "connection_class": patient_for(DATABASE_TIMEOUT_SECONDS),
    "reconnect_timeout": 1,  # then each request tries again; in the background it would be ever more rarely
}
DATABASE_ROUTERS = ["memoryproject.backup.router.OwnerRouter", "tenants.router.RoleRouter"]
DATABASE_DEFINER_ROLE = env.text("DATABASE_DEFINER_ROLE", "strata_definer")
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# ── Redis and Celery ─────────────────────────────────────────────────────────────────────────────
REDIS_URL = env.text("REDIS_URL", "redis://127.0.0.1:6379/0")
CACHES = {
    "default": {
        "BACKEND": "django_redis.cache.RedisCache",
        "LOCATION": REDIS_URL,
        "OPTIONS": {
            "CLIENT_CLASS": "django_redis.client.DefaultClient",
            "SOCKET_CONNECT_TIMEOUT": 1,
            "SOCKET_TIMEOUT": 2,
            # Memories are text. One retry replaces a connection that a restarted Redis has closed; what has
            # timed out once would only take twice as long.
            "CONNECTION_POOL_KWARGS": {
                "max_connections": 64,
                "decode_responses": True,
                "retry": Retry(NoBackoff(), 1, supported_errors=(RedisConnectionError,)),
            },
        },
    }
}
CELERY_BROKER_URL = env.text("CELERY_BROKER_URL", REDIS_URL)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None  # by default a worker ends after 46 minutes
CELERY_BROKER_CHANNEL_ERROR_RETRY = True  # also while Redis takes no writes
CELERY_BEAT_SCHEDULER = "memoryproject.clock:Clock"
CELERY_TIMEZONE = "UTC"
# A broker that hangs must not hold whoever sends to it.
CELERY_BROKER_TRANSPORT_OPTIONS = {"socket_connect_timeout": 2, "socket_timeout": 10}
EMBED_SWEEP_SECONDS = env.number("EMBED_SWEEP_SECONDS", 10, minimum=1)
SESSION_SWEEP_SECONDS = env.number("SESSION_SWEEP_SECONDS", 30, minimum=1)
JOB_SWEEP_SECONDS = env.number("JOB_SWEEP_SECONDS", 5, minimum=1)
JOB_LEASE_SECONDS = env.number("JOB_LEASE_SECONDS", 30, minimum=3)
JOB_SLOW_THREADS = env.number("JOB_SLOW_THREADS", 2, minimum=1)
JOB_KEEP_DAYS = env.number("JOB_KEEP_DAYS", 7, minimum=1)
PERSON_LINK_SECONDS = env.number("PERSON_LINK_SECONDS", 86_400, minimum=60, maximum=7_776_000)
EXPORT_LINK_SECONDS = env.number("EXPORT_LINK_SECONDS", 86_400, minimum=60, maximum=2_592_000)
COMPACTION_HOUR = env.number("COMPACTION_HOUR", 3, maximum=23)
RETENTION_HOUR = env.number("RETENTION_HOUR", 4, maximum=23)
SUMMARY_VIEW_REFRESH_EVERY_MINUTES = env.number("SUMMARY_VIEW_REFRESH_EVERY_MINUTES", 60, minimum=1)
IDEMPOTENCY_KEEP_HOURS = env.number("IDEMPOTENCY_KEEP_HOURS", 24, minimum=1)
WRITE_DECISION_DAYS = env.number("WRITE_DECISION_DAYS", 30, minimum=1, maximum=3_650)
CELERY_BEAT_SCHEDULE = {
    "heartbeat": {"task": "memoryproject.heartbeat", "schedule": 15.0},
    "embed-pending": {"task": "episodic.embed_pending", "schedule": float(EMBED_SWEEP_SECONDS)},
    "store-items": {"task": "episodic.sweep_items", "schedule": 60.0, "options": {"expires": 60}},
    "embed-by-both": {
        "task": "tenants.fill_generations",
        "schedule": float(EMBED_SWEEP_SECONDS),
        "options": {"expires": EMBED_SWEEP_SECONDS},
    },
    "idle-sessions": {
        "task": "recall.sweep_sessions",
        "schedule": float(SESSION_SWEEP_SECONDS),
        "options": {"expires": SESSION_SWEEP_SECONDS},
    },
    "summary-views": {
        "task": "recall.refresh_summary_views",
        "schedule": 60.0 * SUMMARY_VIEW_REFRESH_EVERY_MINUTES,
        "options": {"expires": 3_600},
    },
    "nightly-compaction": {
        "task": "recall.compact_sessions",
        "schedule": crontab(hour=COMPACTION_HOUR, minute=10),
        "options": {"expires": 3_600},
    },
    "nightly-retention": {
        "task": "episodic.retention",
        "schedule": crontab(hour=RETENTION_HOUR, minute=10),
        "options": {"expires": 3_600},
    },
    # What the broker lost is found by these. They expire, so that a worker that was away does not find
    # thousands, but not soon: the clocks of two machines differ.
    "quick-jobs": {
        "task": "tenants.run_jobs",
        "schedule": float(JOB_SWEEP_SECONDS),
        "kwargs": {"slow": False},
        "options": {"expires": 3_600},
    },
    "slow-jobs": {
        "task": "tenants.run_jobs",
        "schedule": float(JOB_SWEEP_SECONDS),
        "kwargs": {"slow": True},
        "options": {"expires": 3_600},
    },
    "clear-old": {"task": "tenants.clear_old", "schedule": 3600.0},
    "webhooks": {
        "task": "webhooks.sweep",
        "schedule": float(JOB_SWEEP_SECONDS),
        "options": {"expires": JOB_SWEEP_SECONDS},
    },
    "clear-deliveries": {"task": "webhooks.clear", "schedule": 3600.0},
    "expire-decisions": {"task": "ledger.expire_decisions", "schedule": 3600.0},
}

# ── Memory ───────────────────────────────────────────────────────────────────────────────────────
SESSION_TTL_SECONDS = env.number("SESSION_TTL_SECONDS", 86_400, minimum=60, maximum=259_200)
SESSION_IDLE_SECONDS = env.number("SESSION_IDLE_SECONDS", 1_800, minimum=60, maximum=259_200)
SESSION_MAX_AGE_SECONDS = env.number("SESSION_MAX_AGE_SECONDS", 7 * 86_400, minimum=3_600)
WORKING_MEMORY_TURNS = env.number("WORKING_MEMORY_TURNS", 6, minimum=1, maximum=1_000)
MAX_TOOL_RESULT_CHARS = env.number("MAX_TOOL_RESULT_CHARS", 8_000, maximum=1_000_000)
INCLUDE_SUMMARY_AFTER_TURN = env.number("INCLUDE_SUMMARY_AFTER_TURN", 12, maximum=1_000)
RECALL_ALPHA = env.decimal("RECALL_ALPHA", 0.75)
RECALL_LAMBDA = env.decimal("RECALL_LAMBDA", 0.08, maximum=10)
RECALL_TOP_K = env.number("RECALL_TOP_K", 5, minimum=1, maximum=200)
RECALL_MONITOR_SHARE = env.decimal("RECALL_MONITOR_SHARE", 0.01)
RECALL_STAGE_SECONDS = env.decimal("RECALL_STAGE_SECONDS", 2, minimum=0.05, maximum=60)
ENTITY_CONFIDENCE_MIN = env.decimal("ENTITY_CONFIDENCE_MIN", 0.75)
EPISODIC_RETENTION_DAYS = env.number("EPISODIC_RETENTION_DAYS", 90, minimum=30, maximum=365)
EVENT_RETENTION_DAYS = env.number("EVENT_RETENTION_DAYS", 30, minimum=1, maximum=3_650)
AMS_TTL_SECONDS = env.number("AMS_TTL_SECONDS", 3_600)
WINDOW_SIZE = env.number("WINDOW_SIZE", 50, minimum=2, maximum=1_000)
SUMMARIZATION_THRESHOLD = env.decimal("SUMMARIZATION_THRESHOLD", 0.7, minimum=0.01)
MISSING_SESSION = env.text("MISSING_SESSION")
MAX_FUTURE_TIMESTAMP_SECONDS = env.number("MAX_FUTURE_TIMESTAMP_SECONDS", 300)
LONG_TERM_MEMORY = env.flag("LONG_TERM_MEMORY", True)
ENABLE_DISCRETE_MEMORY_EXTRACTION = env.flag("ENABLE_DISCRETE_MEMORY_EXTRACTION", True)
EXTRACTION_DEBOUNCE_SECONDS = env.number("EXTRACTION_DEBOUNCE_SECONDS", 30, maximum=86_400)
INDEX_ALL_MESSAGES_IN_LONG_TERM_MEMORY = env.flag("INDEX_ALL_MESSAGES_IN_LONG_TERM_MEMORY", False)
DEDUPLICATION_DISTANCE_THRESHOLD = env.decimal("DEDUPLICATION_DISTANCE_THRESHOLD", 0.35)
COMPACT_SEMANTIC_DUPLICATES = env.flag("COMPACT_SEMANTIC_DUPLICATES", True)
FORGETTING_ENABLED = env.flag("FORGETTING_ENABLED", False)
FORGETTING_MAX_AGE_DAYS = env.number("FORGETTING_MAX_AGE_DAYS", 0, maximum=36_500)
FORGETTING_MAX_INACTIVE_DAYS = env.number("FORGETTING_MAX_INACTIVE_DAYS", 0, maximum=36_500)
FORGETTING_BUDGET_KEEP_TOP_N = env.number("FORGETTING_BUDGET_KEEP_TOP_N", 0, maximum=10_000_000)
WORKING_LIST_LENGTH = env.number("WORKING_LIST_LENGTH", 256, minimum=16)
WORKING_MEMORY_MAX_BYTES = env.number("WORKING_MEMORY_MAX_BYTES", 65_536, minimum=1_024)
WORKING_MEMORY_STRICT = env.flag("WORKING_MEMORY_STRICT", False)
MEMORY_DEDUPE_WINDOW = env.duration("MEMORY_DEDUPE_WINDOW", "15m")
MAX_BODY_BYTES = env.number("MAX_BODY_BYTES", 1_048_576, minimum=1_024)
IMPORT_MAX_BYTES = env.number("IMPORT_MAX_BYTES", 268_435_456, minimum=1_024)
AGENTOPS_DELETE_BODY = env.flag("AGENTOPS_DELETE_BODY", False)
MEMORY_ENABLED = env.flag("MEMORY_ENABLED", True)
MEMORY_TYPE = env.text("MEMORY_TYPE", "local")
MEMORY_CONTEXT_LIMIT = env.number("MEMORY_CONTEXT_LIMIT", 6, minimum=1, maximum=100)
MEMORY_MAX_SESSIONS = env.number("MEMORY_MAX_SESSIONS", 1_000, minimum=1, maximum=100_000)
MEMORY_MAX_SESSION_EVENTS = env.number("MEMORY_MAX_SESSION_EVENTS", 500, minimum=1, maximum=10_000)
CHECKPOINT_MAX_BYTES = env.number("CHECKPOINT_MAX_BYTES", 16_777_216, minimum=1_024, maximum=268_435_456)
EMBEDDING_PROVIDER = env.text("EMBEDDING_PROVIDER", "local")
EMBEDDING_MODEL = env.text("EMBEDDING_MODEL", "all-MiniLM-L6-v2")
EMBEDDING_THREADS = env.number("EMBEDDING_THREADS", 2, minimum=1, maximum=64)
MODEL_CACHE = MEMORY_HOME / "models"
PROCEDURE_ENVIRONMENT = env.text("PROCEDURE_ENVIRONMENT", "production")
DOCUMENT_MAX_BYTES = env.number("DOCUMENT_MAX_BYTES", 20_971_520, minimum=1_024, maximum=268_435_456)
DOCUMENT_MAX_CHARS = env.number("DOCUMENT_MAX_CHARS", 5_000_000, minimum=1_000, maximum=50_000_000)
DOCUMENT_MAX_PAGES = env.number("DOCUMENT_MAX_PAGES", 2_000, minimum=1, maximum=100_000)
DOCUMENT_PARSE_SECONDS = env.number("DOCUMENT_PARSE_SECONDS", 20, minimum=1, maximum=600)
DOCUMENT_PARSE_MEMORY_MB = env.number("DOCUMENT_PARSE_MEMORY_MB", 768, minimum=256, maximum=65_536)

# ── Outside providers ────────────────────────────────────────────────────────────────────────────
OPENAI_BASE_URL = env.text("OPENAI_BASE_URL", "https://api.openai.com/v1")
OPENAI_API_KEY = env.text("OPENAI_API_KEY")
EMBEDDING_DIMENSIONS = env.number("EMBEDDING_DIMENSIONS", 0, maximum=16_000)
EMBEDDING_BATCH_SIZE = env.number("EMBEDDING_BATCH_SIZE", 128, minimum=1, maximum=2_048)
EMBEDDING_MAX_TOKENS = env.number("EMBEDDING_MAX_TOKENS", 8_191, minimum=16)
# The model that takes the place of the present one, while it does.
EMBEDDING_NEXT_PROVIDER = env.text("EMBEDDING_NEXT_PROVIDER")
EMBEDDING_NEXT_MODEL = env.text("EMBEDDING_NEXT_MODEL")
EMBEDDING_NEXT_DIMENSIONS = env.number("EMBEDDING_NEXT_DIMENSIONS", 0, maximum=16_000)
EMBEDDING_NEXT_BASE_URL = env.text("EMBEDDING_NEXT_BASE_URL", OPENAI_BASE_URL)
EMBEDDING_NEXT_API_KEY = env.text(
    "EMBEDDING_NEXT_API_KEY", OPENAI_API_KEY if EMBEDDING_NEXT_BASE_URL == OPENAI_BASE_URL else ""
)
LLM_PROVIDER = env.text("LLM_PROVIDER", "none")
GENERATION_MODEL = env.text("GENERATION_MODEL", "gpt-4o-mini")
LLM_MODEL = env.text("LLM_MODEL", GENERATION_MODEL)
LLM_BASE_URL = env.text("LLM_BASE_URL", OPENAI_BASE_URL)
# Another server must not learn the key of the first.
LLM_API_KEY = env.text("LLM_API_KEY", OPENAI_API_KEY if LLM_BASE_URL == OPENAI_BASE_URL else "")
PROVIDER_INTERACTIVE_SECONDS = env.number("PROVIDER_INTERACTIVE_SECONDS", 3, minimum=1, maximum=60)
PROVIDER_TIMEOUT_SECONDS = env.number("PROVIDER_TIMEOUT_SECONDS", 60, minimum=1, maximum=600)
PROVIDER_CONNECT_SECONDS = env.number("PROVIDER_CONNECT_SECONDS", 2, minimum=1, maximum=60)
PROVIDER_RETRIES = env.number("PROVIDER_RETRIES", 2, maximum=10)
PROVIDER_PRICES_FILE = env.text("PROVIDER_PRICES_FILE")

# ── Webhooks ─────────────────────────────────────────────────────────────────────────────────────
WEBHOOK_ALLOWED_NETWORKS = env.words("WEBHOOK_ALLOWED_NETWORKS")
WEBHOOK_DELIVERY_DAYS = env.number("WEBHOOK_DELIVERY_DAYS", 7, minimum=1, maximum=365)
WEBHOOK_DISABLE_AFTER = env.number("WEBHOOK_DISABLE_AFTER", 100, minimum=1, maximum=100_000)

# ── Who may call ─────────────────────────────────────────────────────────────────────────────────
API_KEY_CACHE_SECONDS = env.number("API_KEY_CACHE_SECONDS", 5, minimum=0, maximum=5)
JWT_ALGORITHMS = env.words("JWT_ALGORITHMS")
JWT_SECRET = env.text("JWT_SECRET")
JWT_JWKS_URL = env.text("JWT_JWKS_URL")
JWT_AUDIENCE = env.text("JWT_AUDIENCE")
JWT_ISSUER = env.text("JWT_ISSUER")
JWT_LEEWAY_SECONDS = env.number("JWT_LEEWAY_SECONDS", 30, minimum=0, maximum=300)
JWKS_REFRESH_SECONDS = env.number("JWKS_REFRESH_SECONDS", 300, minimum=1, maximum=86_400)
JWKS_MAX_AGE_SECONDS = env.number("JWKS_MAX_AGE_SECONDS", 3_600, minimum=1, maximum=86_400)
MEMORY_ANONYMOUS_TENANT = env.text("MEMORY_ANONYMOUS_TENANT")
MEMORY_ANONYMOUS_NETWORKS = env.words("MEMORY_ANONYMOUS_NETWORKS")

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": ["api.authentication.KeyAuthentication"],
    "DEFAULT_PERMISSION_CLASSES": ["api.permissions.HasScope"],
    "DEFAULT_RENDERER_CLASSES": ["api.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.JSONParser"],  # for OpenAPI; see api.parsers
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "api.renderers.AlwaysJSON",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Strata",
    "DESCRIPTION": "Self-hosted memory for AI agents: one store behind several protocols.",
    "VERSION": "0.1.0",
    "SERVE_INCLUDE_SCHEMA": False,
    "SERVE_PERMISSIONS": ["rest_framework.permissions.AllowAny"],
    "SERVE_AUTHENTICATION": [],
    "SWAGGER_UI_DIST": "SIDECAR",  # from our own static files: no page of ours asks a third party
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SCHEMA_PATH_PREFIX": "/api/v1",
    "ENUM_NAME_OVERRIDES": {  # fields of one name that mean different things
        "SlotStatusEnum": "episodic.models.SlotStatus",
        "MemoryTypeEnum": "episodic.models.MemoryType",
        "PromptRoleEnum": ["system", "user", "assistant"],
        "RoleEnum": ["user", "assistant", "system", "tool"],
        "SearchModeEnum": ["semantic", "keyword", "hybrid"],
        "RecordTypeEnum": ["episodic", "semantic", "message"],  # the same, where it has no labels
        "StageStatusEnum": ["ok", "skipped", "failed"],
        "RecalledKindEnum": ["episode", "entity", "observation"],
        "ToldKindEnum": "webhooks.models.Kind",
    },
    "POSTPROCESSING_HOOKS": [
        "drf_spectacular.hooks.postprocess_schema_enums",
        "api.openapi.add_what_is_common",
    ],
}

# ── Browser pages ────────────────────────────────────────────────────────────────────────────────
LANGUAGE_CODE = "en-us"
TIME_ZONE = "UTC"
USE_TZ = True
STATIC_URL = "/static/"
STATIC_ROOT = BASE_DIR / "staticfiles"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = True  # admin and console files are served from the packages; nothing to collect
AUTHENTICATION_BACKENDS = ["tenants.browser.AccountBackend"]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
SESSION_ENGINE = "tenants.browser"
SESSION_COOKIE_AGE = 12 * 3_600  # a working day
SESSION_COOKIE_HTTPONLY = CSRF_COOKIE_HTTPONLY = True
LOGIN_URL = "sign-in"
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = env.flag("COOKIES_SECURE", False)
SECURE_CONTENT_TYPE_NOSNIFF = True
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = None  # api.parsers bounds each body itself and answers in the dialect's shape

# ── Observability ────────────────────────────────────────────────────────────────────────────────
METRICS_TOKEN = env.text("METRICS_TOKEN")
OTEL_TRACES_EXPORTER = env.text("OTEL_TRACES_EXPORTER", "none")
TRACE_MEMORY_CONTENT = env.flag("TRACE_MEMORY_CONTENT", False)
SLOW_QUERY_MS = env.number("SLOW_QUERY_MS", 200) if DEBUG else env.number("SLOW_QUERY_MS", 0)
LOG_LEVEL = env.text("LOG_LEVEL", "INFO")
LOG_FORMAT = env.text("LOG_FORMAT", "json")
LOGGING = configuration(level=LOG_LEVEL, style=LOG_FORMAT)
