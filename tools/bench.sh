#!/usr/bin/env bash
# bench.sh run [--rows=N] [--rounds=N] [--only=WORKLOAD,…]: installs the extension, starts a private server of its own,
# and measures. bench.sh render: writes the tables and charts again, from the results in docs/bench.
source "$(dirname "$0")/env.sh"

# What is measured is the work of one process at a time, in memory, with the same log for all. Nothing here has to
# outlive a power failure, and a disk that is waited for would hide what IDs cost.
SETTINGS=(
    shared_buffers=2GB work_mem=1GB maintenance_work_mem=1GB
    fsync=off synchronous_commit=off max_wal_size=16GB checkpoint_timeout=1d wal_recycle=off wal_init_zero=off
    autovacuum=off jit=off max_parallel_workers_per_gather=0 max_parallel_maintenance_workers=0
    synchronize_seqscans=off
)

bench() { /usr/bin/python3 -m bench "$@"; }

tools/setup.sh bench
if [ "${1:-}" = run ]; then
    use_private_copy
    tools/install.sh
    say 'Starting a private server: its own data, a socket, no port'
    folder=$(tools/server.sh start bench "${SETTINGS[@]}")
    trap 'tools/server.sh stop bench; rm -rf "$folder"' EXIT
    cc -O2 -fPIC -shared -I"$(pg includedir-server)" -o "$folder/least.so" bench/least.c
    bench "$@" --folder="$folder" --bindir="$(pg bindir)" --scratch="$ROOT/target/bench"
else
    bench render
fi
