#!/usr/bin/env bash
# What the project is made of, and what it is tested and measured with: the licences and sources of all crates, by deny.toml,
# and their known vulnerabilities. Those are skipped where the database of them cannot be fetched.
source "$(dirname "$0")/env.sh"
VERSION=0.20.2
DENY=$TOOLS/bin/cargo-deny
LOGS=$ROOT/target/test/audit

# check NAME WHAT…
check() {
    local name=$1 log=$LOGS/$1.log failed=0
    "$DENY" --offline --workspace --locked check "${@:2}" 2>&1 | tee "$log" || failed=1
    echo "$name $((1 - failed)) $failed 0 $log" >>"$LOGS/results"
}

rm -rf "$LOGS"
mkdir -p "$LOGS"
if [ "$("$DENY" --version 2>/dev/null)" != "cargo-deny $VERSION" ]; then
    say "Building cargo-deny $VERSION into $TOOLS (once; some minutes)"
    cargo install --locked --debug --root "$TOOLS" "cargo-deny@$VERSION"
fi
cargo fetch --locked
say 'Licences and sources'
check licences licenses bans sources
say 'Known vulnerabilities'
if "$DENY" fetch db; then
    check vulnerabilities advisories
else
    echo "vulnerabilities 0 0 1 the_database_of_them_cannot_be_fetched" >>"$LOGS/results"
fi
tools/results.sh audit
