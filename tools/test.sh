#!/usr/bin/env bash
# test.sh [SUITE…]: sets up the machine, and runs all suites of checks and tests, or the given ones, on the server of PG_CONFIG. The
# last line of the output is the total. With LIBRARY_PROFILE, uses this Cargo profile only, instead of dev and release.
source "$(dirname "$0")/lib/env.sh"
PROFILE=${LIBRARY_PROFILE:-dev}
SUITES=("$@")
SERVERS='' # the directory of the private servers; set once the machine is set up

# ----------------------------------------------------------------------------------------------------------- the suites

format() { cargo fmt --all --check; }
# Only the library, with its tests in the server, depends on the server. The fuzz targets come apart, here and for the documentation:
# they need another feature of a crate that builds the bindings, so that the tests in the server could not use those built here.
lint() {
    local options=(--profile "$PROFILE" -- --deny warnings)
    if ! shares_tests; then
        cargo clippy --workspace --exclude scru-fuzz --all-targets "${FEATURES[@]}" "${options[@]}"
        cargo clippy --package scru-fuzz --all-targets "${options[@]}"
    else
        cargo clippy --package scru --lib "${FEATURES[@]}" --features pg_test "${options[@]}"
    fi
}
# Only src/pg/server.rs may depend on the server version. It must not name the newest version, so that it treats the next version
# like the newest.
server_versions() {
    ! grep --recursive --line-number 'feature = "pg1' src --include='*.rs' --exclude=server.rs &&
        ! grep --line-number "feature = \"pg${MAJORS[-1]}\"" src/pg/server.rs
}
# Includes private items: the extension has no public ones. With `--examples`, though there are none, Cargo uses the builds of `lint`.
rust_docs() {
    local options=(--no-deps --document-private-items --profile "$PROFILE")
    export RUSTDOCFLAGS='--deny warnings --allow rustdoc::private_intra_doc_links'
    cargo doc --workspace --exclude scru-fuzz --lib --bins --examples "${FEATURES[@]}" "${options[@]}"
    cargo doc --package scru-fuzz "${options[@]}"
}
pure_crates() {
    cargo test --no-fail-fast --package scru-ids --package scru-server --package scru-model --package sqlgen \
        --features scru-ids/encryption,scru-ids/postgres-types
}

# Installs the library with the functions of src/tests.rs, for which pgrx-tests would call cargo-pgrx. The next suite replaces it.
# pgrx-tests starts a server of its own, and finds the programs by a variable that would rebuild the bindings if Cargo had it as well.
in_the_server() {
    local options=(--lib --package scru --profile "$PROFILE" "${FEATURES[@]}" --features pg_test)
    local environment=(env CARGO_PGRX=true "PGRX_PG_CONFIG_PATH=$PG_CONFIG" "CARGO_PGRX_TEST_PGDATA=$SERVERS/pgrx")
    ! is_root || environment+=("CARGO_PGRX_TEST_RUNAS=$SERVER_USER")
    # Together with the tests: otherwise, the crates would have other features, and be built twice.
    cargo build --tests "${options[@]}"
    LIBRARY=$(library "$PROFILE") LIBRARY_PROFILE=pg_test tools/install.sh
    {
        echo 'CREATE SCHEMA tests;'
        sed -n '/#\[pg_test\]/{n;s/.* fn \(\w*\)().*/CREATE FUNCTION tests.\1() RETURNS void LANGUAGE c AS '"'MODULE_PATHNAME', '\1_wrapper'"';/p}' src/tests.rs
    } >>"$(pg sharedir)/extension/scru--$(package_version scru).sql"
    cargo --config "target.'cfg(all())'.runner = [$(printf "'%s'," "${environment[@]}")]" test "${options[@]}"
}

# Installs the build that the following suites test. Leaves the library with the logs, for upgrades from this server.
release_build() { tools/install.sh && cp "$STAGE/scru.so" "$LOGS"; }

# Tests the build for packagers, the packages, and the image for operators. Two files at the same time, because they build in
# directories of their own. The long tests build in the same directories as others.
packages() {
    local workers=0
    # A Debian of tools/lib/servers.sh has the required packages, and the tests there are those of one file.
    if ! shares_tests; then
        tools/setup.sh packages
        [ -n "${TEST_LONG:-}" ] || workers=2
    fi
    # -rsfE lists skipped and failed tests with their reasons. Without the cache provider, pytest writes nothing into the tree.
    /usr/bin/python3 -m pytest -p no:cacheprovider -rsfE --strict-markers --junit-xml="$LOGS/pytest-packages.xml" \
        --numprocesses="$workers" --dist=loadfile tests/packages
}

# First runs the tests that compare times, one at a time. Then runs the others in parallel, except that tests of the same file run
# one after another. Most tests wait for a clock or for one process, so there are more workers than processors.
end_to_end() {
    local status=0
    e2e alone -m alone || status=1
    e2e together -m 'not alone' --numprocesses="${WORKERS:-$((2 * $(nproc)))}" --dist=loadfile || status=1
    return "$status"
}
e2e() { PYTHONUNBUFFERED=1 /usr/bin/python3 -m pytest --junit-xml="$LOGS/pytest-$1.xml" "${@:2}" tests/e2e; }

# The suites install into a private copy. The files of the original server must be unchanged.
system_files() { find "$("$SYSTEM" --pkglibdir)" "$("$SYSTEM" --sharedir)" -type f -exec sha256sum {} + | sort; }
untouched_server() {
    [ "$SYSTEM" != "$PG_CONFIG" ] || { echo 'PG_CONFIG itself names a private copy.' && return; }
    diff "$LOGS/system_files" <(system_files)
}

# ------------------------- counts of passed, failed and skipped tests, from a log; then a line for each reason: tests skipped, reason

count_check() { echo "$((1 - STATUS)) $STATUS 0"; }
count_cargo() {
    awk '
        /^test result:/ { p += $4; f += $6; s += $8 }
        /^test .* \.\.\. ignored/ { sub(/^test .* \.\.\. ignored(, )?/, ""); reasons[$0 == "" ? "marked as ignored" : $0]++ }
        END { print p + 0, f + 0, s + 0; for (reason in reasons) print reasons[reason], reason }' "$1"
}
# PostgreSQL 15 and fuzz.sh print "test NAME ... ok"; PostgreSQL 16 and newer print TAP.
count_regress() {
    awk '/^test .* \.\.\. ok|^ok / { p++ } /^test .* \.\.\. FAILED|^not ok / { f++ } END { print p + 0, f + 0, 0 }' "$1"
}
count_pytest() { count_junit "$LOGS"/pytest-{alone,together}.xml; }
count_packages() { count_junit "$LOGS/pytest-packages.xml"; }
count_junit() {
    /usr/bin/python3 - "$@" <<'PYTHON'
import collections, sys, xml.etree.ElementTree as tree
suites = [tree.parse(path).find("testsuite") for path in sys.argv[1:]]
run, failures, errors, skipped = (sum(int(suite.get(name)) for suite in suites)
                                  for name in ("tests", "failures", "errors", "skipped"))
print(run - failures - errors - skipped, failures + errors, skipped)
reasons = collections.Counter((skip.get("message") or "no reason").split("\n")[0] for suite in suites for skip in suite.iter("skipped"))
for reason, tests in reasons.items():
    print(tests, reason)
PYTHON
}

# ------------------------------------------------------------------------------------------------------ running a suite

runs_all() { [ "${#SUITES[@]}" = 0 ]; }
is_wanted() { runs_all || [[ " ${SUITES[*]} " == *" $1 "* ]]; }

# suite NAME COUNTER [COMMAND…]: runs the command, by default the function NAME, and records the counts that COUNTER prints. A suite
# that exits with an error, or runs no tests, has failed whatever the counts.
suite() {
    local name=$1 log=$LOGS/$1.log passed failed skipped begin=$SECONDS time
    time=$(date +%T)
    is_wanted "$name" || return 0
    [ $# -gt 2 ] || set -- "$@" "$name"
    say "${name//_/ }"
    set +e
    (set -e && "${@:3}") 2>&1 | tee "$log"
    STATUS=$((PIPESTATUS[0] != 0))
    { read -r passed failed skipped && cat >>"$LOGS/skipped"; } < <("$2" "$log")
    set -e
    if [ $((${passed:=0} + ${failed:=0})) = 0 ] || { [ "$STATUS" = 1 ] && [ "$failed" = 0 ]; }; then failed=1; fi
    echo "$name $passed $failed ${skipped:-0} $log $((SECONDS - begin)) $time" >>"$LOGS/results"
}

# skip NAME REASON: counts a suite that cannot run on this machine.
skip() {
    is_wanted "$1" || return 0
    say "$1 is skipped: $2"
    echo "$1 0 0 1 -" >>"$LOGS/results"
    echo "1 $2" >>"$LOGS/skipped"
}

set_up test
LOGS=$ROOT/target/test/$PG_MAJOR
rm -rf "$LOGS"
mkdir -p "$LOGS"
# Without these programs, some tests are skipped. They are installed only for a run of all suites: those of Debian first, because
# some are extensions of the server, the others beside the suites that do not need them.
install_packages() {
    local skipped='Tests that need a missing program will be skipped'
    tools/setup.sh clients || say "$skipped"
    tools/setup.sh operators || say "$skipped"
}
if runs_all; then
    install_packages
    say "Installing programs for the tests: the log is $LOGS/programs.log"
    tools/lib/clients.sh >"$LOGS/programs.log" 2>&1 &
    PROGRAMS=$!
    trap 'kill "$PROGRAMS" 2>/dev/null || true' EXIT
fi
SERVERS=$(tools/server.sh home)
SYSTEM=$PG_CONFIG
system_files >"$LOGS/system_files"
use_private_copy

suite format count_check
suite lint count_check
suite server_versions count_check
suite rust_docs count_check
for check in python shell scripts documents spelling workflows; do suite "$check" count_check tools/lint.sh "$check"; done
suite layers count_check /usr/bin/python3 tools/lib/layers.py
suite generated_sql count_check tools/gen.sh --check
suite pure_crates count_cargo
if ! shares_tests; then
    if tools/lib/arm64.sh available; then suite arm64 count_cargo tools/lib/arm64.sh; else skip arm64 "Rust's standard library for arm64 cannot be installed"; fi
fi
suite in_the_server count_cargo
# One second per target; `make fuzz` runs longer.
suite fuzz count_regress tools/fuzz.sh 1
suite release_build count_check
# Neither a type nor an upgrade depends on the server version.
shares_tests || suite next_version count_check tools/lib/next-version.sh
! runs_all || wait "$PROGRAMS" || die "The programs for the tests could not be installed. The log is $LOGS/programs.log"
suite regression count_regress tools/lib/regress.sh regress fsync=off
suite end_to_end count_pytest
suite packages count_packages
suite untouched_server count_check

say 'All suites'
tools/lib/results.sh "$PG_MAJOR"
