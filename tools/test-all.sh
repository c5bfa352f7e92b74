#!/usr/bin/env bash
# test-all.sh: runs the suites that depend on the server, on all major versions except the oldest, which `make test` covers. The
# last line of the output is the total.
# test-all.sh prepare: fetches the servers, builds the extension for them, and installs it into their private copies.
source "$(dirname "$0")/lib/env.sh"
MAJORS=("${MAJORS[@]:1}")
# `make test` tests the build in release mode, and compares times.
export LIBRARY_PROFILE=quick
# What does not depend on the version runs on some versions only.
export TEST_ALL=1
LOGS=$ROOT/target/test

# at_a_time COUNT FUNCTION MAJOR…: runs the function for each version, for COUNT of them at the same time. Much of a run waits for a
# single thread or for a clock.
at_a_time() {
    local major
    for major in "${@:3}"; do
        while [ "$(jobs -rp | wc -l)" -ge "$1" ]; do wait -n || true; done
        "$2" "$major" &
    done
    wait
}

# Fetches all servers in parallel. Then installs the extension in each, so that tests on one server can upgrade from another.
prepare() {
    local major
    say "Preparing PostgreSQL ${MAJORS[*]}: the logs are $LOGS/prepare-*.log"
    tools/setup.sh servers
    for major in "${MAJORS[@]}"; do tools/lib/servers.sh prepare "$major" >"$LOGS/prepare-$major.log" 2>&1 & done
    wait
    # 16 is built on this machine. Its build has most of what the others need.
    build "${MAJORS[0]}"
    at_a_time 2 build "${MAJORS[@]:1}"
}
build() {
    [ "$1" = "${MAJORS[0]}" ] || tools/lib/servers.sh seed "$1"
    tools/lib/servers.sh run "$1" bash -c 'source tools/lib/env.sh && use_private_copy && tools/install.sh' >>"$LOGS/prepare-$1.log" 2>&1
}

# Compiler warnings are checked on the oldest server, by `make test`, and on the newest one. The tests in the server run
# on the oldest server only.
run() {
    local suites=(release_build regression end_to_end untouched_server) workers=2
    [ "$1" != "${MAJORS[-1]}" ] || suites=(lint "${suites[@]}") workers=3
    # It starts last, and ends when few others run.
    [ "$1" != "${MAJORS[0]}" ] || workers=3
    # Of the versions for which Debian packages exist, the newest. `make test` covers the oldest. The rules of the packages are
    # the same for those between: only the number in their names differs.
    [ "$1" != 18 ] || suites+=(packages)
    say "PostgreSQL $1: the log is $LOGS/$1.log"
    WORKERS=$workers tools/lib/servers.sh run "$1" tools/test.sh "${suites[@]}" >"$LOGS/$1.log" 2>&1 && return
    # A failed run without a failure among its results was interrupted.
    if tools/lib/results.sh "$1" >/dev/null; then echo 'cut_short 0 1 0' >>"$LOGS/$1/results"; fi
}

# Sets OLD_PG_CONFIG to the oldest server, from which the tests on 16 run pg_upgrade, if the extension is installed there. If
# `make test` ran in another root directory, installs the library that it has left with its logs.
find_oldest() {
    local copy library=$LOGS/$PG_MAJOR/scru.so
    [ "$PG_MAJOR" -lt 16 ] || return 0
    copy=$(tools/server.sh copy)
    if [ ! -f "$("$copy" --pkglibdir)/scru.so" ]; then
        [ -f "$library" ] || return 0
        # The name of the profile keeps the files to install apart from those of a build.
        PG_CONFIG=$copy LIBRARY=$library LIBRARY_PROFILE=tested tools/install.sh
    fi
    export OLD_PG_CONFIG=$copy
}

# On an interrupt, stops the jobs in the background, and does not start those of the next servers.
trap 'jobs -p | xargs --no-run-if-empty kill; exit 130' INT TERM
mkdir -p "$LOGS"
prepare
[ "${1:-}" != prepare ] || exit 0
find_oldest
for major in "${MAJORS[@]}"; do rm -rf "${LOGS:?}/$major"; done
# The newest first, on which most tests run.
mapfile -t NEWEST_FIRST < <(printf '%s\n' "${MAJORS[@]}" | tac)
at_a_time 3 run "${NEWEST_FIRST[@]}"
for major in "${MAJORS[@]}"; do cat "$LOGS/$major.log"; done

say 'All suites on all servers'
tools/lib/results.sh "${MAJORS[@]}"
