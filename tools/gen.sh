#!/usr/bin/env bash
# gen.sh [--check]: renders sql/install and the regression test `reference` from sql/*.in, and the reference pages from these. With
# --check, writes no files, and fails if a committed file differs from its rendering.
source "$(dirname "$0")/lib/env.sh"

cargo sqlgen "$@"
# Fails if the expected output of the test is stale. The test can be run then, because it is written already.
/usr/bin/python3 tools/lib/reference.py "$@"
