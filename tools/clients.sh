#!/usr/bin/env bash
# Installs the clients that tests/e2e/test_clients.py runs: what is Debian's through apt, the rest in pinned versions under
# target/clients. What cannot be had is said, and is no error: its tests are then skipped.
source "$(dirname "$0")/env.sh"
SOURCES=$ROOT/tests/e2e/clients
CLIENTS=$ROOT/target/clients

# install LANGUAGE PINS: unless its folder has these PINS already, makes it anew by install_LANGUAGE.
install() {
    local folder=$CLIENTS/$1 pins=$2
    cmp -s "$SOURCES/$pins" "$folder/installed" && return
    say "Installing the clients for $1"
    rm -rf "$folder"
    mkdir -p "$folder"
    "install_$1" "$folder" && cp "$SOURCES/$pins" "$folder/installed" && return
    rm -rf "$folder" # not half of it
    false
}

install_python() {
    /usr/bin/python3 -m venv "$1" &&
        "$1/bin/pip" install --quiet --disable-pip-version-check --requirement "$SOURCES/requirements.txt"
}

install_node() {
    cp "$SOURCES"/package*.json "$1" && (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

# Cargo knows best whether anything is to be done.
install_rust() {
    rm -f "$CLIENTS/rust/clients" # no test of an older one
    cargo build --package clients --target-dir "$ROOT/target" &&
        mkdir -p "$CLIENTS/rust" &&
        cp "$ROOT/target/debug/clients" "$CLIENTS/rust/clients"
}

or_skip() { "$@" || say "The tests of what is missing here will be skipped"; }

or_skip tools/setup.sh clients
or_skip install python requirements.txt
or_skip install node package-lock.json
or_skip install_rust
