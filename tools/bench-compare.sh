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

set_up bench
# Two copies of the same age: the first statement of a session took 40 % more processor time on a copy that was 100 minutes older.
base=$(tools/server.sh copy base)
PG_CONFIG=$(tools/server.sh copy compare)
export PG_CONFIG
tree=$(tools/lib/old-library.sh "$BASE")
PG_CONFIG=$base LIBRARY=$tree/scru.so "$tree/tools/install.sh"
tools/install.sh
trap 'PG_CONFIG=$base tools/server.sh stop compare-base; tools/server.sh stop compare' EXIT
base_directory=$(PG_CONFIG=$base tools/server.sh start compare-base "${SETTINGS[@]}")
directory=$(tools/server.sh start compare "${SETTINGS[@]}")
/usr/bin/python3 -m bench.compare "$base_directory" "$directory" "${@:2}"
