"""The product's settings with the jobs that are tortured."""

from memoryproject.settings import *  # noqa: F403
from memoryproject.settings import INSTALLED_APPS as PRODUCT

INSTALLED_APPS = [*PRODUCT, "tests.torture"]
