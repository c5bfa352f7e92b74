#!/usr/bin/env bash
# mutants.sh stored [WORD…] | crates [OPTION…]: changes the program, one change at a time, and runs the tests that should notice it:
# with the changes in tests/mutants (tools/lib/mutants.py), or with those that cargo-mutants makes of crates/ids and crates/server
# (.cargo/mutants.toml). `stored` fails if a change survives that a test had noticed, and `crates` if any change survives.
source "$(dirname "$0")/lib/env.sh"
set_up test
case ${1:-} in
stored) /usr/bin/python3 tools/lib/mutants.py "${@:2}" ;;
crates)
    cargo install --quiet --locked --debug --root "$TOOLS" cargo-mutants@27.0.0
    PATH=$TOOLS/bin:$PATH cargo mutants --package scru-ids --package scru-server --output target "${@:2}"
    ;;
*) die 'Missing: stored or crates' ;;
esac
