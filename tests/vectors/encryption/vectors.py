"""A second implementation of the encryption of IDs, independent of crates/ids, which has made the vectors.

`python3 tests/vectors/encryption/vectors.py >tests/vectors/encryption/vectors.json` writes them anew. Requires the
package `cryptography`, which also has SP 800-108.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from uuid import UUID

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.kbkdf import KBKDFCMAC, CounterLocation, Mode

KEYS = [bytes(range(16)), hashlib.sha256(b"16 bytes").digest()[:16]]
KEYS += [bytes(range(32)), hashlib.sha256(b"32 bytes").digest()]
# The smallest and the largest ID of each kind, in hexadecimal digits.
RANGES = {
    "uuidv7": ("00000000000070008000000000000000", "ffffffffffff7fffbfffffffffffffff"),
    "scru64": ("0000000000000000", f"{36**12 - 1:016x}"),
    "ulidflake": ("0000000000000000", "7fffffffffffffff"),
    "bigint": ("8000000000000000", "7fffffffffffffff"),
    "scru128": ("00" * 16, "ff" * 16),
    "ulid": ("00" * 16, "ff" * 16),
}
UNWALKED = ("scru128", "ulid")
FREE_BITS = 122


def subkey(kind: str, key: bytes) -> bytes:
    """Returns the subkey of a kind."""
    derivation = KBKDFCMAC(
        algorithm=algorithms.AES,
        mode=Mode.CounterMode,
        length=len(key),
        rlen=4,
        llen=4,
        location=CounterLocation.BeforeFixed,
        label=kind.encode("ascii"),
        context=b"",
        fixed=None,
    )
    return derivation.derive(key)


def version_4(bits: str) -> bytes:
    """Returns the UUID of version 4 with these 122 bits, which are taken in order from the first."""
    assert len(bits) == FREE_BITS
    text = bits[:48] + "0100" + bits[48:60] + "10" + bits[60:]
    return int(text, 2).to_bytes(16, "big")


def block_of(kind: str, id: bytes) -> bytes:
    """Returns the block to encrypt."""
    if kind in UNWALKED:
        return id
    bits = "".join(f"{byte:08b}" for byte in id)
    if kind == "uuidv7":
        assert bits[48:52] + bits[64:66] == "011110"
        return version_4(bits[:48] + bits[52:64] + bits[66:])
    return version_4(bits + 58 * "0")


def encrypted(kind: str, key: bytes, block: bytes) -> UUID:
    """Returns the UUID to which a block of a kind is encrypted."""
    aes = Cipher(algorithms.AES(subkey(kind, key)), modes.ECB()).encryptor()
    while True:
        block = aes.update(block)
        uuid = UUID(bytes=block)
        if kind in UNWALKED or (uuid.version == 4 and uuid.variant == "specified in RFC 4122"):
            return uuid


def ids_of(kind: str) -> Iterator[bytes]:
    """Returns the smallest and the largest ID of a kind, those next to them, and some in between."""
    smallest, largest = (int(limit, 16) for limit in RANGES[kind])
    length = len(RANGES[kind][0]) // 2
    is_signed = smallest > largest
    numbers = [smallest, smallest + 1, largest - 1, largest]
    numbers += [int.from_bytes(hashlib.sha256(f"{kind} {n}".encode()).digest()[:length], "big") for n in range(8)]
    numbers += [0x0197_F0A0_8000_0000 << 8 * (length - 8)]
    for number in numbers:
        if kind == "uuidv7":
            number = number & ~(0xF << 76 | 3 << 62) | 7 << 76 | 2 << 62
        elif not is_signed:
            number %= largest + 1
        yield number.to_bytes(length, "big")
    if is_signed:
        yield from (n.to_bytes(8, "big", signed=True) for n in (-1, 0, 1))


def foreign_blocks(kind: str) -> Iterator[tuple[str, bytes]]:
    """Returns blocks of version 4 that are not those of an ID of the kind, each with the reason."""
    if kind in UNWALKED or kind == "uuidv7":
        return
    for name, place in ("first", 64), ("middle", 90), ("last", 121):
        bits = ["0"] * FREE_BITS
        bits[place] = "1"
        yield f"the {name} of the zeros is 1", version_4("".join(bits))
    if kind == "scru64":
        yield "above the largest ID", block_of(kind, (36**12).to_bytes(8, "big"))
        yield "negative", block_of(kind, b"\xff" * 8)
    if kind == "ulidflake":
        yield "negative", block_of(kind, b"\x80" + bytes(7))


def vectors() -> dict[str, list[dict[str, str]]]:
    """Returns the vectors: encrypted IDs, and UUIDs of version 4 that are not encrypted IDs."""
    made = {"encrypted": [], "foreign": []}
    for kind in RANGES:
        for key in KEYS:
            for id in ids_of(kind):
                uuid = encrypted(kind, key, block_of(kind, id))
                made["encrypted"].append({"kind": kind, "key": key.hex(), "id": id.hex(), "uuid": str(uuid)})
            for reason, block in foreign_blocks(kind):
                uuid = encrypted(kind, key, block)
                made["foreign"].append({"kind": kind, "key": key.hex(), "uuid": str(uuid), "reason": reason})
    return made


if __name__ == "__main__":
    lists = (
        f'"{name}": [\n' + ",\n".join(f"  {json.dumps(each)}" for each in rows) + "\n]"
        for name, rows in vectors().items()
    )
    print("{\n" + ",\n".join(lists) + "\n}")
