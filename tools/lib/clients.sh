#!/usr/bin/env bash
# Installs the clients that tests/e2e/clients runs: Debian's packages through apt, the others in pinned versions under
# target/clients. A client that cannot be installed is reported, but is not an error: its tests are skipped.
source "$(dirname "$0")/env.sh"
SOURCES=$ROOT/tests/e2e/clients/programs
CLIENTS=$ROOT/target/clients

# install LANGUAGE PINS: runs install_LANGUAGE in an empty directory, unless the directory was installed from the same PINS.
install() {
    local directory=$CLIENTS/$1 pins=$2
    cmp -s "$SOURCES/$pins" "$directory/installed" && return
    say "Installing the clients for $1"
    rm -rf "$directory"
    mkdir -p "$directory"
    "install_$1" "$directory" && cp "$SOURCES/$pins" "$directory/installed" && return
    rm -rf "$directory" # leave no partial installation
    false
}

install_python() {
    local pip=("$1/bin/pip" --quiet --disable-pip-version-check)
    # The requirements pin each package, also those that others require: `check` fails if one is missing.
    /usr/bin/python3 -m venv "$1" &&
        "${pip[@]}" install --no-deps --requirement "$SOURCES/requirements.txt" &&
        "${pip[@]}" check
}

install_node() {
    cp "$SOURCES"/package*.json "$1" && (cd "$1" && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error)
}

# Always runs: Cargo decides what to rebuild.
install_rust() {
    rm -f "$CLIENTS/rust/clients" # if the build fails, an older program must not be tested
    cargo build --package clients --target-dir "$ROOT/target" &&
        mkdir -p "$CLIENTS/rust" &&
        cp "$ROOT/target/debug/clients" "$CLIENTS/rust/clients"
}

or_skip() { "$@" || say "Tests that need a missing program will be skipped"; }

or_skip tools/setup.sh clients
or_skip install python requirements.txt
or_skip install node package-lock.json
or_skip install_rust
