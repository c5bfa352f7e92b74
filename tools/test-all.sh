#!/usr/bin/env bash
# Runs the suites that depend on the server, on all major versions except the oldest, which `make test` covers. The last line of
# the output is the total.
source "$(dirname "$0")/env.sh"
MAJORS=("${MAJORS[@]:1}")
LOGS=$ROOT/target/test

# Fetches all servers in parallel, before the first run.
prepare() {
    local major
    say "Preparing PostgreSQL ${MAJORS[*]}: the logs are $LOGS/prepare-*.log"
    mkdir -p "$LOGS"
    for major in "${MAJORS[@]}"; do
        rm -rf "${LOGS:?}/$major"
        tools/servers.sh prepare "$major" >"$LOGS/prepare-$major.log" 2>&1 &
    done
    wait
}

# Builds in release mode only, as for an installation, which halves the build time. Compiler warnings are checked on the oldest
# server, by `make test`, and on the newest one. The tests in the server (`cargo pgrx test`) run on the oldest server only.
run() {
    local suites=(release_build regression end_to_end untouched_server)
    [ "$1" != "${MAJORS[-1]}" ] || suites=(lint "${suites[@]}")
    # Debian packages exist for these versions and for the oldest, which `make test` covers.
    case $1 in 17 | 18) suites+=(packages) ;; esac
    tools/servers.sh run "$1" tools/test.sh --release "${suites[@]}" && return
    # A failed run without a failure among its results was interrupted.
    if tools/results.sh "$1" >/dev/null; then echo 'cut_short 0 1 0' >>"$LOGS/$1/results"; fi
}

# Two runs at a time: much of a run waits for a single thread or for a clock.
run_side_by_side() {
    local major
    for major in "$@"; do
        say "PostgreSQL $major: the log is $LOGS/$major.log"
        WORKERS=$(nproc) run "$major" >"$LOGS/$major.log" 2>&1 &
    done
    wait
    for major in "$@"; do cat "$LOGS/$major.log"; done
}

# On an interrupt, stops the jobs in the background, and does not start those of the next servers.
trap 'jobs -p | xargs --no-run-if-empty kill; exit 130' INT TERM
tools/setup.sh servers
prepare
# The tests on 16 run pg_upgrade from the older server, if the extension is installed there.
older=$(tools/server.sh copy)
if [ "$PG_MAJOR" -lt 16 ] && [ -f "$("$older" --pkglibdir)/scru.so" ]; then export OLD_PG_CONFIG=$older; fi
for ((i = 0; i < ${#MAJORS[@]}; i += 2)); do run_side_by_side "${MAJORS[@]:i:2}"; done

say 'All suites on all servers'
tools/results.sh "${MAJORS[@]}"
