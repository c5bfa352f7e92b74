#!/usr/bin/env bash
# test.sh [--release] [SUITE…]: sets up and runs every check and every test, or these suites. The last line adds up what
# really ran. With --release all is built in release mode, rather than twice.
source "$(dirname "$0")/env.sh"
LOGS=$ROOT/target/test/$PG_MAJOR
PROFILE=dev
[ "${1:-}" != --release ] || { PROFILE=release && shift; }
SUITES=" $* "
SERVERS='' # where they live, once the machine is set up

# ---------------------------------------------------------------------------------------------------------- the suites

format() { cargo fmt --all --check; }
lint() { cargo clippy --workspace --all-targets --profile "$PROFILE" "${FEATURES[@]}" -- --deny warnings; }
# What differs by server version is in src/server.rs alone, and the newest version is named nowhere: the next one gets the same.
server_versions() {
    ! grep --recursive --line-number 'feature = "pg1' src --include='*.rs' --exclude=server.rs &&
        ! grep --line-number "feature = \"pg${MAJORS[-1]}\"" src/server.rs
}
# Of private items, too: the extension has no others.
rust_docs() {
    RUSTDOCFLAGS='--deny warnings --allow rustdoc::private_intra_doc_links' \
        cargo doc --workspace --no-deps --document-private-items --profile "$PROFILE" "${FEATURES[@]}"
}
python() { tools/lint.sh python; }
shell_scripts() { tools/lint.sh shell; }
documents() { tools/lint.sh documents; }
spelling() { tools/lint.sh spelling; }
workflows() { tools/lint.sh workflows; }
layers() { /usr/bin/python3 tools/layers.py; }
generated_sql() { cargo sqlgen --check; }
pure_crates() { cargo test --no-fail-fast --package scru-ids --package scru-model --package sqlgen --features scru-ids/postgres-types; }

# It installs a build of its own, and that by `sudo cp`: what a running server has loaded must not change under its feet,
# so the file goes first. As whom it shall run it has to be told even if that is the caller: else it would not use sudo.
in_the_server() {
    # Into the server of this variable, before that of its own configuration.
    export PGRX_PG_CONFIG_PATH=$PG_CONFIG
    tools/setup.sh pgrx
    rm -f "$(pg pkglibdir)/scru.so"
    "$CARGO_PGRX" pgrx test --profile "$PROFILE" --runas "$SERVER_USER" --pgdata "$SERVERS/pgrx" "${FEATURES[@]}" "pg$PG_MAJOR"
}

# On the oldest server alone, as it needs none.
arm64() { tools/arm64.sh; }

# What the suites from here on test.
release_build() { tools/install.sh; }

regression() { tools/regress.sh regress fsync=off; }

# On the oldest server alone: how a type is added is the same for all.
sixth_type() { tools/sixth-type.sh; }

# The build as packagers have it, the packages, and the image for operators.
packages() {
    # The others run in a Debian that has what they need.
    [ "$PG_MAJOR" != "${MAJORS[0]}" ] || tools/setup.sh packages
    /usr/bin/python3 -m pytest --junit-xml="$LOGS/pytest-packages.xml" tests/packages
}

# A second for each target; `make fuzz` has more.
fuzz() { tools/fuzz.sh 1; }

# First the tests that compare times, with the machine to themselves; then the others side by side, those of a file in turn. Most
# wait for a clock or for one process, so that there are more of them than processors.
end_to_end() {
    local status=0
    e2e alone -m alone || status=1
    e2e together -m 'not alone' --numprocesses="${WORKERS:-$((2 * $(nproc)))}" --dist=loadfile || status=1
    return "$status"
}
e2e() { PYTHONUNBUFFERED=1 /usr/bin/python3 -m pytest --junit-xml="$LOGS/pytest-$1.xml" "${@:2}" tests/e2e; }

# All was installed into a private copy: the server's own libraries and scripts are what they were.
system_files() { find "$("$SYSTEM" --pkglibdir)" "$("$SYSTEM" --sharedir)" -type f -exec sha256sum {} + | sort; }
untouched_server() {
    [ "$SYSTEM" != "$PG_CONFIG" ] || { echo 'This server is a private copy itself.' && return; }
    diff "$LOGS/system_files" <(system_files)
}

# ----------------------------------------------------------------- how many passed, failed and were skipped, from a log

count_check() { echo "$((1 - STATUS)) $STATUS 0"; }
count_cargo() { awk '/^test result:/ { p += $4; f += $6; s += $8 } END { print p + 0, f + 0, s + 0 }' "$1"; }
# Up to 15 "test NAME ... ok", as fuzz.sh has it, too; from 16 on TAP.
count_regress() {
    awk '/^test .* \.\.\. ok|^ok / { p++ } /^test .* \.\.\. FAILED|^not ok / { f++ } END { print p + 0, f + 0, 0 }' "$1"
}
count_pytest() { count_junit "$LOGS"/pytest-{alone,together}.xml; }
count_packages() { count_junit "$LOGS/pytest-packages.xml"; }
count_junit() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import sys, xml.etree.ElementTree as tree
suites = [tree.parse(path).find("testsuite") for path in sys.argv[1:]]
run, failures, errors, skipped = (sum(int(suite.get(name)) for suite in suites)
                                  for name in ("tests", "failures", "errors", "skipped"))
print(run - failures - errors - skipped, failures + errors, skipped)
PYTHON
}

# ------------------------------------------------------------------------------------------------------- running a suite

# suite NAME COUNTER: a suite that ends badly has failed, whatever it counted, and so has one that ran nothing.
suite() {
    local name=$1 log=$LOGS/$1.log passed failed skipped
    [[ $SUITES == '  ' || $SUITES == *" $name "* ]] || return 0
    say "${name//_/ }"
    set +e
    (set -e && "$name") 2>&1 | tee "$log"
    STATUS=$((PIPESTATUS[0] != 0))
    read -r passed failed skipped < <("$2" "$log")
    set -e
    if [ $((${passed:=0} + ${failed:=0})) = 0 ] || { [ "$STATUS" = 1 ] && [ "$failed" = 0 ]; }; then failed=1; fi
    echo "$name $passed $failed ${skipped:-0} $log" >>"$LOGS/results"
}

rm -rf "$LOGS"
mkdir -p "$LOGS"
tools/setup.sh test
# What is not installed is skipped: some suites of a server in a Debian of its own go without clients.
[[ $SUITES != '  ' ]] || tools/clients.sh
[[ $SUITES != '  ' || $PG_MAJOR != "${MAJORS[0]}" ]] || tools/setup.sh operators || say 'The drills of what is missing here will be skipped'
[[ $SUITES != '  ' || $PG_MAJOR != "${MAJORS[0]}" ]] || tools/old-library.sh 0.1.0 || say 'The tests of an older library will be skipped'
SERVERS=$(tools/server.sh home)
SYSTEM=$PG_CONFIG
system_files >"$LOGS/system_files"
use_private_copy

suite format count_check
suite lint count_check
suite server_versions count_check
suite rust_docs count_check
suite python count_check
suite shell_scripts count_check
suite documents count_check
suite spelling count_check
suite workflows count_check
suite layers count_check
suite generated_sql count_check
suite pure_crates count_cargo
[ "$PG_MAJOR" != "${MAJORS[0]}" ] || suite arm64 count_cargo
suite in_the_server count_cargo
suite fuzz count_regress
suite release_build count_check
[ "$PG_MAJOR" != "${MAJORS[0]}" ] || suite sixth_type count_check
suite regression count_regress
suite end_to_end count_pytest
[[ $PG_MAJOR != "${MAJORS[0]}" && $SUITES != *' packages '* ]] || suite packages count_packages
suite untouched_server count_check

say 'All suites'
tools/results.sh "$PG_MAJOR"
