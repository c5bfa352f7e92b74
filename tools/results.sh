#!/usr/bin/env bash
# results.sh [MAJOR|audit]…: prints the results of the tests on these servers, or of the audit (default: all servers, and the
# audit): one line per suite, and the total. Succeeds if nothing failed. Reads the files that tools/test.sh and tools/audit.sh
# write: suite, passed, failed, skipped, log, seconds.
source "$(dirname "$0")/env.sh"
[ $# != 0 ] || set -- "${MAJORS[@]}" audit

for major in "$@"; do
    # Missing results count as a failure.
    { cat "target/test/$major/results" 2>/dev/null || echo 'nothing_ran 0 1 0'; } | sed "s/^/$major /"
done | awk '
    {
        gsub("_", " ", $2)
        printf "%s  %-15s %5d passed %3d failed %3d skipped %5d s   %s\n", $1, $2, $3, $4, $5, $7, $6
        passed += $3; failed += $4; skipped += $5
    }
    END {
        printf "\n%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed > 0
    }'
