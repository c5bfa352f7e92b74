"""The vectors of encrypted IDs are those that their program makes, by an implementation in Python."""

from __future__ import annotations

import json
from importlib.util import find_spec
from pathlib import Path

from programs import missing
from server import on_the_oldest

VECTORS = Path(__file__).parents[2] / "vectors/encryption/vectors.json"


@on_the_oldest("uses no server")
def test_the_vectors_are_those_of_the_second_implementation():
    if not find_spec("cryptography"):
        missing("Python has no package cryptography (Debian: python3-cryptography)")
    from tests.vectors.encryption.vectors import vectors

    assert vectors() == json.loads(VECTORS.read_text())
