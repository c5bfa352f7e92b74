#!/usr/bin/env bash
# check.sh CONCERN…: builds the library in the dev profile, installs it into the private copy of the server, and runs the tests of
# the concerns, such as `range` for src/by_time/range.rs: tests/pg_regress/sql/range.sql, and the end-to-end tests in files whose
# names contain the word, such as test_time_compare_range.py. Tests that compare times need the release profile and are left out.
source "$(dirname "$0")/lib/env.sh"

[ $# != 0 ] || die 'Missing concern: make check ONLY=io'
regress=() e2e=()
for concern in "$@"; do
    mapfile -t files < <(find tests/pg_regress/sql tests/e2e -regextype posix-extended \
        -regex ".*/($concern\.sql|test_(.*_)?$concern(_.*)?\.py)")
    [ ${#files[@]} != 0 ] || die "No regression test and no end-to-end test is called $concern."
    for file in "${files[@]}"; do
        case $file in *.sql) regress+=("$concern") ;; *) e2e+=("$file") ;; esac
    done
done

regression() { [ ${#regress[@]} = 0 ] || TESTS="${regress[*]}" tools/lib/regress.sh regress fsync=off; }
end_to_end() {
    [ ${#e2e[@]} = 0 ] ||
        /usr/bin/python3 -m pytest --quiet --numprocesses="$(nproc)" --dist=load -m 'not alone' "${e2e[@]}"
}

set_up test
use_private_copy
LIBRARY_PROFILE=dev tools/install.sh
mkdir -p target/test
end_to_end >target/test/check.log 2>&1 &
status=0
regression || status=1
wait $! || status=1
cat target/test/check.log
exit "$status"
