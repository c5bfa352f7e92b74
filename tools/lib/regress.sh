#!/usr/bin/env bash
# regress.sh NAME [SETTING=VALUE…]: runs the regression tests on the private server NAME, and stops it at the end. TESTS: the
# names of the tests to run (default: all). The tests, vectors and scripts are copied into the server's directory, which its user
# can access.
source "$(dirname "$0")/env.sh"
NAME=${1:?missing name of a server}

tests=(tests/pg_regress/sql/*.sql)
tests=("${tests[@]##*/}")
tests=("${tests[@]%.sql}")
read -ra tests <<<"${TESTS:-${tests[*]}}"
# An interrupted run may have left the server running with other settings.
tools/server.sh stop "$NAME" 2>/dev/null
# An autovacuum in the middle of a test could change the planner's estimates.
directory=$(tools/server.sh start "$@" autovacuum=off)
trap 'tools/server.sh stop "$NAME"' EXIT
rm -rf "$directory"/{pg_regress,vectors,contrib,out}
cp -r tests/pg_regress tests/vectors sql/contrib "$directory"
as_server mkdir -p "$directory/out/results"
"$(pg pkglibdir)/pgxs/src/test/regress/pg_regress" --bindir="$(pg bindir)" --host="$directory" --port=5432 \
    --user="$(id -un)" --inputdir="$directory/pg_regress" --outputdir="$directory/out" "${tests[@]}" ||
    { cat "$directory/out/regression.diffs" && exit 1; }
