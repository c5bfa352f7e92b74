#!/usr/bin/env bash
# regress.sh NAME [SETTING=VALUE…]: the regression tests, on a private server of that name, which is stopped at the end. The
# server reads test vectors and writes files: all of it is where its user can get. TESTS: the names of some, instead of all.
source "$(dirname "$0")/env.sh"
NAME=${1:?on which server?}

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
