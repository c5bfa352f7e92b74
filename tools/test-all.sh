#!/usr/bin/env bash
# The suites in which the server has a part, on all major versions but the one that `make test` has. The last line adds up.
source "$(dirname "$0")/env.sh"
MAJORS=("${MAJORS[@]:1}")
LOGS=$ROOT/target/test

# All that is fetched is fetched first, side by side.
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

# In release mode only, which is what gets installed and saves half of the building. What the compiler can tell of a server, it
# tells of the oldest, which `make test` has, and of the newest; the framework's tests and those that compare times run on the oldest.
run() {
    local suites=(release_build regression end_to_end untouched_server)
    [ "$1" != "${MAJORS[-1]}" ] || suites=(lint "${suites[@]}")
    # Debian packages are made for these, and for the oldest.
    case $1 in 17 | 18) suites+=(packages) ;; esac
    tools/servers.sh run "$1" tools/test.sh --release "${suites[@]}" && return
    # What failed without a failure among its results was cut short.
    if tools/results.sh "$1" >/dev/null; then echo 'cut_short 0 1 0' >>"$LOGS/$1/results"; fi
}

# Two at a time: a good part of a run is waiting, for one thread or for a clock.
run_side_by_side() {
    local major
    for major in "$@"; do
        say "PostgreSQL $major: the log is $LOGS/$major.log"
        WORKERS=$(nproc) run "$major" >"$LOGS/$major.log" 2>&1 &
    done
    wait
    for major in "$@"; do cat "$LOGS/$major.log"; done
}

# Else an interrupted server would be followed by the next one, and what runs in the background would run on.
trap 'jobs -p | xargs --no-run-if-empty kill; exit 130' INT TERM
tools/setup.sh servers
prepare
# From the older server, if there is one with the extension, pg_upgrade comes to 16.
older=$(tools/server.sh copy)
if [ "$PG_MAJOR" -lt 16 ] && [ -f "$("$older" --pkglibdir)/scru.so" ]; then export OLD_PG_CONFIG=$older; fi
for ((i = 0; i < ${#MAJORS[@]}; i += 2)); do run_side_by_side "${MAJORS[@]:i:2}"; done

say 'All suites on all servers'
tools/results.sh "${MAJORS[@]}"
