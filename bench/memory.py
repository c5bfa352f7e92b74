"""Memory: whether a backend grows while one query makes a great many IDs."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor, wait

import psycopg

from bench.process import private_memory

# The sub-select hands its rows on one by one. A function in FROM would first store them all.
QUERY = "SELECT count({generate}) FROM (SELECT generate_series(1, {ids}::bigint)) AS numbers"
CONTEXTS = "SELECT sum(total_bytes)::bigint FROM pg_backend_memory_contexts"


def memory(connection: psycopg.Connection, generate: str, ids: int) -> dict[str, int]:
    """The kilobytes of the backend's private memory as it begins and at its most, and the bytes of its contexts."""
    connection.execute(QUERY.format(generate=generate, ids=1000))
    [[contexts]] = connection.execute(CONTEXTS).fetchall()
    pid = connection.info.backend_pid
    before = most = private_memory(pid)
    with ThreadPoolExecutor(1) as executor:
        query = executor.submit(connection.execute, QUERY.format(generate=generate, ids=ids))
        while wait([query], timeout=0.05).not_done:
            most = max(most, private_memory(pid))
        [[made]] = query.result().fetchall()
    assert made == ids
    [[contexts_after]] = connection.execute(CONTEXTS).fetchall()
    most = max(most, private_memory(pid))
    return {"ids": ids, "before_kb": before, "most_kb": most, "contexts_grown_by": contexts_after - contexts}
