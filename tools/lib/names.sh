#!/usr/bin/env bash
# names.sh: prints the list of docs/stability.md, the public names that a release freezes, a line each. Those of the catalog are the
# expected output of the regression test `names`.
source "$(dirname "$0")/env.sh"

grep -v '^\(--\|\\\)' tests/pg_regress/expected/names.out
sed -n 's/^\(\*\*\|| .* | \)\([0-9A-Z]\{5\}\)\([.*]\| |\).*/SQLSTATE \2/p' docs/errors.md | sort -u
sed -n 's/.*WaitEvent::new(c"\(.*\)").*/wait event \1/p' src/*/*.rs
