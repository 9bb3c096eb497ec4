#!/usr/bin/env python
"""Django's command line: `manage.py help` lists the commands."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line

if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memoryproject.settings")
    try:
        execute_from_command_line(sys.argv)
    except ImproperlyConfigured as error:
        sys.exit(f"Strata cannot start: {error}")  # a wrong setting deserves a sentence, not a traceback
