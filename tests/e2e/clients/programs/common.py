"""What the programs of Python's drivers share. The arguments are IDs. All but the first are in the table."""

import os
import sys
from datetime import datetime, timezone

from scru_postgres import Scru128

URL = os.environ["DATABASE_URL"]
IDS = sys.argv[1:]
SINCE = datetime(2026, 11, 1, tzinfo=timezone.utc)


def report(name, *values):
    """Prints a line for the test: a name, and the resulting values."""
    assert all(value is None or type(value) is Scru128 for value in values)
    print(name, *values)
