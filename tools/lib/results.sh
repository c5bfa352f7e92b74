#!/usr/bin/env bash
# results.sh [DIRECTORY]…: prints the results of the tests in these directories of target/test, which have the name of a version,
# `audit`, or `fresh-SUITE` for the commands of tools/lib/fresh-root.sh (default: those of .ci/run): one line per
# suite, one per folder of end-to-end tests, one per reason for which tests were skipped, what each log says of failed tests, and the
# total. Succeeds if nothing failed. Reads the files `results` (suite, passed, failed, skipped, log, seconds, time of the start) and
# `skipped` (tests, reason) that the scripts write, and those of pytest.
source "$(dirname "$0")/env.sh"
[ $# != 0 ] || set -- fresh-bookworm fresh-trixie-user "${MAJORS[@]}" audit
mkdir -p target/test
cd target/test

all() {
    local directory
    for directory in "$@"; do
        # Missing results count as a failure.
        { cat "$directory/results" 2>/dev/null || echo 'nothing_ran 0 1 0'; } | sed "s/^/$directory /"
    done
}
all "$@" | awk '{
    gsub("_", " ", $2)
    printf "%-17s  %-15s %5d passed %3d failed %3d skipped %5d s %8s   %s\n", $1, $2, $3, $4, $5, $7, $8, $6
}'
# The tests of each folder of tests/e2e that ran, and the sum of their times: several run at once.
/usr/bin/python3 - "$@" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
from collections import defaultdict
from pathlib import Path
for directory in sys.argv[1:]:
    times = defaultdict(list)
    for path in Path(directory).glob("pytest-[at]*.xml"):
        for case in tree.parse(path).iter("testcase"):
            if case.find("skipped") is None:
                # Empty for a file that cannot be imported.
                times[case.get("classname").partition(".")[0]].append(float(case.get("time")))
    if times:
        print()
    for folder, seconds in sorted(times.items()):
        print(f"{directory:17}  {folder:15} {len(seconds):5} tests {sum(seconds):27.0f} s")
PYTHON
echo
for directory in "$@"; do
    [ ! -f "$directory/skipped" ] || sed "s/^/$directory /" "$directory/skipped"
done | awk '
    {
        directory = $1; tests = $2
        sub(/^[^ ]+ [0-9]+ /, "")
        skipped[$0] += tests
        if (index(where[$0], " " directory) == 0) where[$0] = where[$0] " " directory
    }
    END { for (reason in skipped) printf "%4d skipped (%s): %s\n", skipped[reason], substr(where[reason], 2), reason }' | sort -rn
# The lines that name a failed test (of pytest, cargo and pg_regress), or the end of the log of a check.
all "$@" | awk '$4 > 0 && $6 ~ /^\// { print $1, $2, $6 }' | while read -r directory suite log; do
    printf '\n%s, %s, failed:\n' "$directory" "${suite//_/ }"
    grep --extended-regexp '^(FAILED|ERROR) |^test .*FAILED|^not ok' "$log" || tail --lines=20 "$log" || true
done
all "$@" | awk '
    { passed += $3; failed += $4; skipped += $5 }
    END {
        printf "\n%d passed, %d failed%s\n", passed, failed, skipped ? ", " skipped " skipped" : ""
        exit failed > 0
    }'
