# shellcheck shell=bash
# Settings and functions that all scripts share: the choice of Rust, server, cargo-pgrx and user. Every script sources this
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

# Selects the active Rust toolchain if it is new enough, else the first of rustup's toolchains that is.
RUST_VERSION=$(sed -n 's/^rust-version = "\(.*\)"$/\1/p' Cargo.toml)
has_rust() {
    local version
    version=$(rustc --version 2>/dev/null | cut -d ' ' -f 2) || return
    [ "$(printf '%s\n' "$RUST_VERSION" "$version" | sort --version-sort | head -n 1)" = "$RUST_VERSION" ]
}
require_rust() {
    has_rust || die "Rust $RUST_VERSION or newer is missing. Get it from https://rustup.rs, or run: rustup update stable"
}
if ! has_rust && command -v rustup >/dev/null; then
    for toolchain in $(rustup toolchain list | cut -d ' ' -f 1); do
        if RUSTUP_TOOLCHAIN=$toolchain has_rust; then
            echo "Rust $(rustc --version | cut -d ' ' -f 2) is older than $RUST_VERSION: using the toolchain $toolchain." >&2
            export RUSTUP_TOOLCHAIN=$toolchain
            break
        fi
    done
fi

# The supported major versions, oldest first, from the features in Cargo.toml.
# shellcheck disable=SC2034 # used by the scripts that source this file
mapfile -t MAJORS < <(sed -n 's/^pg\([0-9]*\) = .*/\1/p' Cargo.toml)

# Selects the server to build for: the server of PG_CONFIG, whose major version overrides PG_MAJOR, or Debian's server of version
# PG_MAJOR. If neither is set: Debian's PostgreSQL 15 or, if it is not installed, the server of the pg_config in PATH.
if [ -z "${PG_CONFIG:-}${PG_MAJOR:-}" ] && [ ! -x /usr/lib/postgresql/15/bin/pg_config ]; then
    PG_CONFIG=$(command -v pg_config || true)
fi
: "${PG_MAJOR:=15}"
: "${PG_CONFIG:=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}"
pg() { "$PG_CONFIG" "--$1"; }
if command -v "$PG_CONFIG" >/dev/null; then
    PG_MAJOR=$(pg version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
elif [ "$PG_CONFIG" != "/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" ]; then
    die "$PG_CONFIG is missing."
fi

# The caller's libpq variables must not redirect the connections that the scripts make.
for variable in "${!PG@}"; do
    case $variable in PG_* | PGRX_*) ;; *) unset "$variable" ;; esac
done

# Prints the version of a package in Cargo.lock.
package_version() { sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" Cargo.lock; }

# The extensions, which share one library.
# shellcheck disable=SC2034 # used by the scripts that source this file
EXTENSIONS=(scru scru_uuidv7)

# Directories of downloads and builds, which all of the user's clones share.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/scru
TOOLS=$CACHE/tools

# install_tool NAME VERSION [OPTION…]: builds this version of a tool with Cargo into TOOLS, unless it is installed there.
install_tool() {
    # Some programs print their path instead of their name.
    [[ $("$TOOLS/bin/$1" --version 2>/dev/null) != *"$1 $2" ]] || return 0
    say "Building $1 $2 into $TOOLS (once; some minutes)"
    cargo install --locked --debug --root "$TOOLS" "${@:3}" "$1@$2"
}

# The versions of cargo-pgrx and pgrx must be equal. Uses the user's cargo-pgrx if they are, and never changes it.
PGRX_VERSION=$(package_version pgrx)
is_cargo_pgrx() { [ "$("$1" pgrx --version 2>/dev/null)" = "cargo-pgrx $PGRX_VERSION" ]; }
CARGO_PGRX=$(command -v cargo-pgrx || true)
is_cargo_pgrx "$CARGO_PGRX" || CARGO_PGRX=$TOOLS/bin/cargo-pgrx
# A variable of pgrx: the pg_config of the server that the bindings are generated for. A script that sets PG_CONFIG to a private
# copy leaves this variable unchanged: the bindings are the same, and a change would rebuild them.
: "${PGRX_PG_CONFIG_PATH:=$PG_CONFIG}"
export PGRX_PG_CONFIG_PATH
# The default, ~/.pgrx, belongs to the user.
PGRX_HOME=${CARGO_TARGET_DIR:-$ROOT/target}/pgrx/$PG_MAJOR
# shellcheck disable=SC2034 # used by the scripts that source this file
FEATURES=(--no-default-features --features "pg$PG_MAJOR")

# Cargo's options: the crates come from the directory that `make vendor` creates, if it exists, else from the registry.
CARGO_SOURCE=(--locked)
[ ! -f vendor/config.toml ] || CARGO_SOURCE=(--locked --offline --config vendor/config.toml)

# build_library PROFILE: builds the library with a Cargo profile. library PROFILE: prints its path.
build_library() { cargo "${CARGO_SOURCE[@]}" build --lib --package scru --profile "$1" "${FEATURES[@]}"; }
library() { find "${CARGO_TARGET_DIR:-target}/${1/#dev/debug}" -maxdepth 1 -name 'libscru.so' -o -name 'libscru.dylib'; }

# The Cargo profile of the library that tools/build.sh and tools/install.sh build, and the directory of the files to install.
BUILD_PROFILE=${LIBRARY_PROFILE:-release}
# shellcheck disable=SC2034 # used by the scripts that source this file
STAGE=${CARGO_TARGET_DIR:-$ROOT/target}/install/$PG_MAJOR${BUILD_PROFILE#release}

# build.rs passes the linker flag --no-gc-sections. If cargo-pgrx passed it, Cargo would rebuild every crate.
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1

# Sets PG_CONFIG to a copy of the server for this clone. Tests install the extension there, so that the original server is not
# changed.
use_private_copy() { PG_CONFIG=$(tools/server.sh copy) && export PG_CONFIG; }

# PostgreSQL refuses to run as root.
is_root() { [ "$(id -u)" = 0 ]; }
SERVER_USER=$(if is_root; then echo postgres; else id -un; fi)
as_root() { if is_root; then "$@"; else sudo -n "$@"; fi; }
as_server() { if is_root; then (cd / && runuser -u "$SERVER_USER" -- "$@"); else "$@"; fi; }

# For other scripts, cargo-pgrx and the tests.
export PG_MAJOR PG_CONFIG CARGO_PGRX PGRX_HOME
