#!/usr/bin/env bash
# bench-compare.sh BASE [--rounds=N] [--rows=N] [--only WORKLOAD…]: compares the speed of the commit BASE with that of this
# tree. Builds both with the same compiler, installs each into its own server, runs the workloads on the two servers in turn,
# and prints the ratios of their times.
source "$(dirname "$0")/lib/env.sh"
BASE=$(git rev-parse --short "${1:?missing commit}")
SETTINGS=(
    shared_buffers=1GB work_mem=512MB maintenance_work_mem=512MB fsync=off synchronous_commit=off max_wal_size=16GB
    checkpoint_timeout=1d autovacuum=off jit=off max_parallel_workers_per_gather=0 max_parallel_maintenance_workers=0
    synchronize_seqscans=off
)

# install_base PG_CONFIG: installs the library and the SQL of BASE, without BASE's own `make install`, which may differ.
install_base() {
    local tree extension version
    tree=$(tools/lib/old-library.sh "$BASE")
    extension=$("$1" --sharedir)/extension version=$(package_version scru)
    rm -f "$("$1" --pkglibdir)/scru.so"
    cp "$tree/scru.so" "$("$1" --pkglibdir)/scru.so"
    sed "s/@CARGO_VERSION@/$version/" "$tree/scru.control" >"$extension/scru.control"
    # The types use the domain of internal.sql, which was in range.sql, and which older commits do not have.
    {
        cat "$tree"/sql/install/{internal,range}.sql 2>/dev/null || true
        find "$tree/sql/install" -name '*.sql' ! -name internal.sql ! -name range.sql ! -name extension.sql ! -name 'scru_*.sql' -exec cat {} +
        cat "$tree/sql/install/extension.sql"
    } >"$extension/scru--$version.sql"
}

set_up bench
# Two copies of the same age: the first statement of a session took 40 % more processor time on a copy that was 100 minutes older.
base=$(tools/server.sh copy base)
PG_CONFIG=$(tools/server.sh copy compare)
export PG_CONFIG
install_base "$base"
tools/install.sh
trap 'PG_CONFIG=$base tools/server.sh stop compare-base; tools/server.sh stop compare' EXIT
base_directory=$(PG_CONFIG=$base tools/server.sh start compare-base "${SETTINGS[@]}")
directory=$(tools/server.sh start compare "${SETTINGS[@]}")
/usr/bin/python3 -m bench.compare "$base_directory" "$directory" "${@:2}"
