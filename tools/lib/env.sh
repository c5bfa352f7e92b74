# shellcheck shell=bash
# Settings and functions that all scripts share: the choice of Rust, server and user. Every script sources this
# file first.

set -euo pipefail
# The server's user must be able to read the directories created here, whatever the caller's umask is.
umask 022
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
cd "$ROOT"
# The directories of cargo and runuser, which are not in every shell's PATH.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/sbin
# Retry failed downloads for a minute or more. The caller's variables take precedence, but not the caller's configuration files.
export CARGO_NET_RETRY=${CARGO_NET_RETRY:-10} PIP_RETRIES=${PIP_RETRIES:-10}
export npm_config_fetch_retries=${npm_config_fetch_retries:-${NPM_CONFIG_FETCH_RETRIES:-5}}

say() { printf '\n==> %s\n' "$*"; }
die() {
    printf '\n%s\n' "$*" >&2
    exit 1
}

# Directories of downloads and builds, which all of the user's clones share.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/scru
# shellcheck disable=SC2034 # used by the scripts that source this file
TOOLS=$CACHE/tools
# The directory of the Rust toolchain that tools/setup.sh installs with rustup.
PRIVATE_RUST=$CACHE/rust

RUST_VERSION=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
is_new_enough() { [ "$(printf '%s\n' "$RUST_VERSION" "$1" | sort --version-sort | head -n 1)" = "$RUST_VERSION" ]; }
has_rust() {
    local version
    version=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) && is_new_enough "$version" && cargo --version >/dev/null 2>&1
}
is_rust_of_debian() { dpkg --search "$(command -v rustc)" >/dev/null 2>&1; }
require_rust() { has_rust || die "Rust $RUST_VERSION or newer is missing. On Debian, run: make setup. Elsewhere, get it from https://rustup.rs"; }

# Selects a Rust toolchain that is new enough: the active one, else another of rustup, else another in PATH, such as the
# distribution's, else the private one.
select_rust() {
    local toolchain directory
    has_rust && return
    for toolchain in $(rustup toolchain list 2>/dev/null | cut -d ' ' -f 1); do
        directory=$(dirname "$(command -v rustup)")
        if RUSTUP_TOOLCHAIN=$toolchain PATH=$directory:$PATH has_rust; then
            export RUSTUP_TOOLCHAIN=$toolchain PATH=$directory:$PATH
            echo "The active Rust is missing or older than $RUST_VERSION: using the toolchain $toolchain." >&2
            return
        fi
    done
    for directory in $(type -ap rustc | xargs --no-run-if-empty dirname) "$PRIVATE_RUST"/rustup/toolchains/*/bin; do
        if PATH=$directory:$PATH has_rust; then
            export PATH=$directory:$PATH
            return
        fi
    done
}
select_rust

# The supported major versions, oldest first, from the features in Cargo.toml.
# shellcheck disable=SC2034 # used by the scripts that source this file
mapfile -t MAJORS < <(sed -n 's/^pg\([0-9]*\) = .*/\1/p' Cargo.toml)

pg() { "$PG_CONFIG" "--$1"; }

# Prints the path of the pg_config of the system's server: that in PATH, else Debian's newest. Prints nothing if there is none.
system_pg_config() {
    local program major
    program=$(command -v pg_config) && if "$program" --version >/dev/null 2>&1; then
        # A wrapper's path does not say which server it stands for.
        if [ -x "$("$program" --bindir)/pg_config" ]; then echo "$("$program" --bindir)/pg_config"; else echo "$program"; fi
        return
    fi
    for major in $(printf '%s\n' "${MAJORS[@]}" | tac); do
        program=/usr/lib/postgresql/$major/bin/pg_config
        if [ -x "$program" ]; then echo "$program" && return; fi
    done
}

# Selects the server to build for: the server of PG_CONFIG, whose major version overrides PG_MAJOR, or Debian's server of version
# PG_MAJOR. If neither is set: the system's server. If there is none, PG_MAJOR and PG_CONFIG are empty.
select_server() {
    local debian
    if [ -z "${PG_CONFIG:-}${PG_MAJOR:-}" ]; then PG_CONFIG=$(system_pg_config); fi
    : "${PG_MAJOR:=}" "${PG_CONFIG:=${PG_MAJOR:+/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}}"
    debian=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
    if command -v "$PG_CONFIG" >/dev/null; then
        PG_MAJOR=$(pg version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
    elif [ -n "$PG_CONFIG" ] && [ "$PG_CONFIG" != "$debian" ]; then
        die "$PG_CONFIG is missing."
    fi
    # A variable of pgrx: the pg_config of the server that the bindings are generated for. A script that sets PG_CONFIG to a private
    # copy leaves this variable unchanged: the bindings are the same, and a change would rebuild them.
    : "${PGRX_PG_CONFIG_PATH:=$PG_CONFIG}"
    # The default, ~/.pgrx, belongs to the user.
    PGRX_HOME=${CARGO_TARGET_DIR:-$ROOT/target}/pgrx/$PG_MAJOR
    FEATURES=(--no-default-features --features "pg$PG_MAJOR")
    # The directory of the files to install.
    # shellcheck disable=SC2034 # used by the scripts that source this file
    STAGE=${CARGO_TARGET_DIR:-$ROOT/target}/install/$PG_MAJOR${BUILD_PROFILE#release}
    # For other scripts, pgrx and the tests.
    export PG_MAJOR PG_CONFIG PGRX_PG_CONFIG_PATH PGRX_HOME
}
# The Cargo profile of the library that tools/build.sh and tools/install.sh build.
BUILD_PROFILE=${LIBRARY_PROFILE:-release}
select_server

# Whether a run of the tests leaves to those on other versions what does not depend on the version, and the comparisons of times.
# tools/test-all.sh sets TEST_ALL.
shares_tests() { [ -n "${TEST_ALL:-}" ]; }

# set_up [PURPOSE]: installs what is missing, and selects the server and the Rust toolchain, which may have been missing.
set_up() {
    tools/setup.sh "$@"
    select_rust
    select_server
}

# The caller's libpq variables must not redirect the connections that the scripts make.
for variable in "${!PG@}"; do
    case $variable in PG_* | PGRX_*) ;; *) unset "$variable" ;; esac
done

# Prints the version of a package in Cargo.lock.
package_version() { sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" Cargo.lock; }

# The extensions, which share one library.
# shellcheck disable=SC2034 # used by the scripts that source this file
EXTENSIONS=(scru scru_text scru_uuidv7)

# Cargo's options: the crates come from the directory that `make vendor` creates, if it exists, else from the registry.
CARGO_SOURCE=(--locked)
[ ! -f vendor/config.toml ] || CARGO_SOURCE=(--locked --offline --config vendor/config.toml)

# build_library PROFILE: builds the library with a Cargo profile. library PROFILE: prints its path.
build_library() {
    local paths=()
    [ "$1" != release ] || paths=(--config "target.'cfg(all())'.rustflags = [$(remapped_paths)]")
    counted cargo "${CARGO_SOURCE[@]}" "${paths[@]}" build --lib --package scru --profile "$1" "${FEATURES[@]}"
}
# Runs a build, and adds to the line of each crate how many there are. In a terminal, Cargo's bar has these numbers.
counted() {
    local crates line n=0
    if [ -t 2 ]; then
        "$@"
        return
    fi
    crates=$(cargo "${CARGO_SOURCE[@]}" tree --package scru --edges normal,build "${FEATURES[@]}" --prefix none --format '{p}' |
        cut -d ' ' -f 1,2 | sort -u | wc -l)
    "$@" 2>&1 | while IFS= read -r line; do
        [[ $line != *' Compiling '* ]] || line+=" ($((++n)) of $crates)"
        printf '%s\n' "$line" >&2
    done
}
# Prints the compiler's options for which the same sources become the same library, wherever they are and whether the crates are
# vendored: the paths in the library are those of sources in /usr/src. The last option that matches a path is used. The caller's
# RUSTFLAGS replace them. The name of the directory of crates.io depends on its address only.
remapped_paths() {
    local path there
    there=/usr/src/scru-$(package_version scru)
    for path in "$ROOT=$there" "${CARGO_TARGET_DIR:-$ROOT/target}=$there/target" \
        "${CARGO_HOME:-$HOME/.cargo}/registry/src/index.crates.io-1949cf8c6b5b557f=$there/vendor"; do
        printf "'--remap-path-prefix=%s'," "$path"
    done
}
library() { find "${CARGO_TARGET_DIR:-target}/${1/#dev/debug}" -maxdepth 1 -name 'libscru.so' -o -name 'libscru.dylib'; }

# Sets PG_CONFIG to a copy of the server for this clone. Tests install the extension there, so that the original server is not
# changed.
use_private_copy() { PG_CONFIG=$(tools/server.sh copy) && export PG_CONFIG; }

# PostgreSQL refuses to run as root.
is_root() { [ "$(id -u)" = 0 ]; }
SERVER_USER=$(if is_root; then echo postgres; else id -un; fi)
as_root() { if is_root; then "$@"; else sudo -n "$@"; fi; }
as_server() { if is_root; then (cd / && runuser -u "$SERVER_USER" -- "$@"); else "$@"; fi; }
