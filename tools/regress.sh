#!/usr/bin/env bash
# regress.sh NAME [SETTING=VALUE…]: runs the regression tests on the private server NAME, and stops it at the end. TESTS: the
# names of the tests to run (default: all). The tests and vectors are copied into the server's folder, which its user can access.
source "$(dirname "$0")/env.sh"
NAME=${1:?missing name of a server}

tests=(tests/pg_regress/sql/*.sql)
tests=("${tests[@]##*/}")
tests=("${tests[@]%.sql}")
read -ra tests <<<"${TESTS:-${tests[*]}}"
folder=$(tools/server.sh start "$@")
trap 'tools/server.sh stop "$NAME"' EXIT
rm -rf "$folder"/{pg_regress,vectors,out}
cp -r tests/pg_regress tests/vectors "$folder"
as_server mkdir -p "$folder/out/results"
"$(pg pkglibdir)/pgxs/src/test/regress/pg_regress" --bindir="$(pg bindir)" --host="$folder" --port=5432 \
    --user="$(id -un)" --inputdir="$folder/pg_regress" --outputdir="$folder/out" "${tests[@]}" ||
    { cat "$folder/out/regression.diffs" && exit 1; }
