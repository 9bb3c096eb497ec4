"""The client of Strata, a memory server for AI agents."""

from .buffer import DiskBuffer as DiskBuffer
from .calls import UNSET as UNSET
from .calls import Tagged as Tagged
from .client import AsyncStrataClient as AsyncStrataClient
from .client import StrataClient as StrataClient
from .errors import StrataError as StrataError

__version__ = "0.1.0"
