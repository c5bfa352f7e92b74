#!/usr/bin/env bash
# Runs the regression tests on a PostgreSQL built from Debian's source with assertions, which overwrites freed memory and checks
# the bounds of allocations. Runs them again under valgrind, which that build informs about allocated and initialized memory. Not
# part of `make test`: the build takes minutes, and the tests take many times as long under valgrind.
# `make test-memory TESTS='io sort'` runs only some tests.
source "$(dirname "$0")/lib/env.sh"

# A directory that the server's user can access, and that `make clean` does not remove.
mkdir -p "$CACHE"
as_server test -x "$CACHE" 2>/dev/null || CACHE=/var/cache/scru
CHECKED=$CACHE/pg$PG_MAJOR-checked
LOGS=$ROOT/target/memory

# ------------------------------------------------------------------------------------------- the server with assertions

build_server() {
    local archive
    [ -f /usr/include/valgrind/memcheck.h ] || die 'valgrind is missing (Debian: valgrind).'
    say "Building PostgreSQL $PG_MAJOR with assertions into $CHECKED (once; some minutes)"
    mkdir -p "$CACHE"
    WORK=$(mktemp -d "$CACHE/build-XXXXXX")
    trap 'rm -rf "$WORK"' EXIT
    archive=$(tools/lib/server-source.sh)
    mkdir "$WORK/source"
    tar --extract --file="$archive" --directory="$WORK/source" --strip-components=1
    (
        cd "$WORK/source"
        ./configure --quiet --prefix="$CHECKED" --enable-cassert --enable-debug --without-icu --without-readline --without-zlib \
            CFLAGS='-Og -DUSE_VALGRIND -DRANDOMIZE_ALLOCATED_MEMORY'
        make --silent --jobs="$(nproc)" install
        make --silent --directory=contrib/amcheck install
        # valgrind's suppressions for the server. Copied last: the file marks a finished build.
        install -m 644 src/tools/valgrind.supp "$CHECKED/valgrind.supp"
    ) >"$LOGS/build.log" 2>&1 || { tail -n 40 "$LOGS/build.log" && exit 1; }
}

# ------------------------------------------------------------------------------------------------------------ the tests

# Creates a program to run instead of `postgres`: each process runs under valgrind, and has a log of valgrind's reports.
make_valgrind_server() {
    reports=$(tools/server.sh home)/valgrind
    as_server rm -rf "$reports"
    as_server mkdir "$reports"
    install -m 755 /dev/stdin "$CHECKED/bin/postgres-in-valgrind" <<SCRIPT
#!/bin/sh
exec valgrind --quiet --leak-check=no --num-callers=30 --suppressions='$CHECKED/valgrind.supp' \\
    --log-file='$reports/%p' '$CHECKED/bin/postgres' "\$@"
SCRIPT
}

# Any report of valgrind is an error.
assert_no_reports() {
    local found
    found=$(find "$reports" -type f -size +0 -exec cat {} +)
    [ -z "$found" ] || die "$found"
    echo "valgrind checked $(find "$reports" -type f | wc -l) processes and found no errors."
}

mkdir -p "$LOGS"
[ -f "$CHECKED/valgrind.supp" ] || build_server
# A separate directory keeps this build apart from those for other servers.
export PG_CONFIG=$CHECKED/bin/pg_config CARGO_TARGET_DIR=$ROOT/target/memory
set_up test
tools/install.sh
say 'The regression tests with assertions'
tools/lib/regress.sh memory fsync=off
say 'The regression tests under valgrind'
make_valgrind_server
SERVER_PROGRAM=$CHECKED/bin/postgres-in-valgrind tools/lib/regress.sh memory fsync=off
assert_no_reports
