"""The container image of the extension's files: a server without the extension finds it in the mounted image."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from conftest import TARGET, VERSION, extension_files, readable_directory, run
from server import MAJOR, Server, pg_config

pytestmark = pytest.mark.skipif(MAJOR < 18, reason="requires PostgreSQL 18 (extension_control_path)")


@pytest.fixture(scope="module")
def image() -> str:
    """The image that `make image` builds, in umoci's notation."""
    run("make", "image", f"PG_MAJOR={MAJOR}")
    return f"{TARGET}/image/{MAJOR}/scru-{VERSION}-pg{MAJOR}:{VERSION}"


@pytest.fixture(scope="module")
def unpacked(image) -> Iterator[Path]:
    """A directory with the image's files that the server's user can read."""
    with readable_directory() as directory:
        run("umoci", "raw", "unpack", "--image", image, directory / "root")
        (directory / "root").chmod(0o755)
        yield directory / "root"


def test_files(unpacked):
    """The image has the library, the control files, the scripts and the licenses, and no other files."""
    files = {str(path.relative_to(unpacked)) for path in unpacked.rglob("*") if path.is_file()}
    scripts = {f"share/extension/{name}" for name in extension_files()}
    assert files == {"lib/scru.so", "licenses/LICENSE", "licenses/copyright", *scripts}


def test_configuration(image):
    """The image states this machine's architecture, and the version."""
    layout = Path(image.rpartition(":")[0])
    [manifest] = json.loads((layout / "index.json").read_text())["manifests"]
    assert manifest["annotations"]["org.opencontainers.image.ref.name"] == VERSION
    configuration = blob(layout, blob(layout, manifest["digest"])["config"]["digest"])
    architecture = run("dpkg", "--print-architecture").strip()
    assert (configuration["architecture"], configuration["os"]) == (architecture, "linux")
    assert configuration["config"]["Labels"]["org.opencontainers.image.version"] == VERSION


def blob(layout: Path, digest: str) -> dict:
    """Returns a JSON document of an image by its digest."""
    return json.loads((layout / "blobs" / digest.replace(":", "/")).read_text())


@contextmanager
def hidden(*paths: Path) -> Iterator[None]:
    """Renames the files that exist, and renames them back at the end."""
    existing = [path for path in paths if path.exists()]
    for path in existing:
        path.rename(path.with_suffix(".hidden"))
    try:
        yield
    finally:
        for path in existing:
            path.with_suffix(".hidden").rename(path)


def test_a_server_finds_the_extension(unpacked):
    """The server finds the extension with the two settings that CloudNativePG makes for a mounted volume. The server's
    own control file and library are hidden during the test."""
    settings = {
        "extension_control_path": f"$system:{unpacked}/share",
        "dynamic_library_path": f"$libdir:{unpacked}/lib",
    }
    control = Path(pg_config("--sharedir")) / "extension/scru.control"
    library = Path(pg_config("--pkglibdir")) / "scru.so"
    with hidden(control, library), Server(settings) as server, server.connect() as connection:
        connection.execute("CREATE EXTENSION scru_uuidv7 CASCADE")
        connection.execute("CREATE TABLE orders (id scru128 PRIMARY KEY DEFAULT gen_scru128())")
        connection.execute("INSERT INTO orders SELECT FROM generate_series(1, 100)")
        assert connection.execute("SELECT count(*) FROM orders WHERE id <= now()").fetchone() == (100,)
        [(backend,)] = connection.execute("SELECT pg_backend_pid()").fetchall()
        assert f"{unpacked}/lib/scru.so" in Path(f"/proc/{backend}/maps").read_text()
