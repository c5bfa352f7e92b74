# shellcheck shell=bash
# What all scripts here share: which Rust, which server, which cargo-pgrx, which users. Each of them sources this first.

set -euo pipefail
# Folders made here are to be reachable by the server's user, whatever the caller's habits are.
umask 022
ROOT=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$ROOT"
# Where rustup puts cargo and Debian puts runuser: not every shell looks there.
PATH=$PATH:${CARGO_HOME:-$HOME/.cargo}/bin:/usr/sbin

say() { printf '\n==> %s\n' "$*"; }
die() {
    printf '\n%s\n' "$*" >&2
    exit 1
}

# The Rust that builds: the active toolchain if it is new enough, else the first one of rustup's that is.
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

# The supported major versions, oldest first: the features of Cargo.toml.
# shellcheck disable=SC2034 # for those who source this
mapfile -t MAJORS < <(sed -n 's/^pg\([0-9]*\) = .*/\1/p' Cargo.toml)

# The server that everything is built for: Debian's, or the one of a given pg_config, which tells its own major version.
# Where neither is named, and Debian's 15 is not there, it is the one of the pg_config in PATH.
if [ -z "${PG_CONFIG:-}${PG_MAJOR:-}" ] && [ ! -x /usr/lib/postgresql/15/bin/pg_config ]; then
    PG_CONFIG=$(command -v pg_config || true)
fi
: "${PG_MAJOR:=15}"
: "${PG_CONFIG:=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config}"
pg() { "$PG_CONFIG" "--$1"; }
if command -v "$PG_CONFIG" >/dev/null; then
    PG_MAJOR=$(pg version | sed 's/^[^0-9]*\([0-9]*\).*/\1/')
elif [ "$PG_CONFIG" != "/usr/lib/postgresql/$PG_MAJOR/bin/pg_config" ]; then
    die "There is no $PG_CONFIG."
fi

# Where libpq would connect to is for the scripts to say, not for the caller's environment.
for variable in "${!PG@}"; do
    case $variable in PG_* | PGRX_*) ;; *) unset "$variable" ;; esac
done

# The version of a package, as Cargo.lock has it.
package_version() { sed -n "/^name = \"$1\"\$/{n;s/^version = \"\(.*\)\"\$/\1/p}" Cargo.lock; }

# What is fetched or built once for all clones of this user.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/scru
TOOLS=$CACHE/tools

# install_tool NAME VERSION [OPTION…]: has Cargo build a tool of that version into TOOLS, unless it is there.
install_tool() {
    [ "$("$TOOLS/bin/$1" --version 2>/dev/null)" != "$1 $2" ] || return 0
    say "Building $1 $2 into $TOOLS (once; some minutes)"
    cargo install --locked --debug --root "$TOOLS" "${@:3}" "$1@$2"
}

# cargo-pgrx has to be of the very version of pgrx. The user's own serves if it is; no other version of it is touched.
PGRX_VERSION=$(package_version pgrx)
is_cargo_pgrx() { [ "$("$1" pgrx --version 2>/dev/null)" = "cargo-pgrx $PGRX_VERSION" ]; }
CARGO_PGRX=$(command -v cargo-pgrx || true)
is_cargo_pgrx "$CARGO_PGRX" || CARGO_PGRX=$TOOLS/bin/cargo-pgrx
# pgrx's own variable: the pg_config of the server that its bindings are made for. A private copy has the same ones: a script
# that sets PG_CONFIG to it leaves this, so that nothing is built again.
: "${PGRX_PG_CONFIG_PATH:=$PG_CONFIG}"
export PGRX_PG_CONFIG_PATH
# Not ~/.pgrx: that is the user's.
PGRX_HOME=${CARGO_TARGET_DIR:-$ROOT/target}/pgrx/$PG_MAJOR
# shellcheck disable=SC2034 # for those who source this
FEATURES=(--no-default-features --features "pg$PG_MAJOR")

# Where Cargo takes the crates from: the folder that `make vendor` has made, or else its registry.
CARGO_SOURCE=(--locked)
[ ! -f vendor/config.toml ] || CARGO_SOURCE=(--locked --offline --config vendor/config.toml)

# Builds the library with a Cargo profile, and where it then is.
build_library() { cargo "${CARGO_SOURCE[@]}" build --lib --package scru --profile "$1" "${FEATURES[@]}"; }
library() { find "${CARGO_TARGET_DIR:-target}/${1/#dev/debug}" -maxdepth 1 -name 'libscru.so' -o -maxdepth 1 -name 'libscru.dylib'; }

# What has to be installed lies here once it is built.
# shellcheck disable=SC2034 # for those who source this
STAGE=${CARGO_TARGET_DIR:-$ROOT/target}/install/$PG_MAJOR

# build.rs gives the linker what cargo-pgrx would: with flags of its own it would have all built anew.
export CARGO_PGRX_DISABLE_GC_SECTIONS_WORKAROUND=1

# What is tried out is installed into a copy of the server for this clone alone, so that the server itself stays as it is.
use_private_copy() { PG_CONFIG=$(tools/server.sh copy) && export PG_CONFIG; }

# PostgreSQL refuses to run as root.
is_root() { [ "$(id -u)" = 0 ]; }
SERVER_USER=$(if is_root; then echo postgres; else id -un; fi)
as_root() { if is_root; then "$@"; else sudo -n "$@"; fi; }
as_server() { if is_root; then (cd / && runuser -u "$SERVER_USER" -- "$@"); else "$@"; fi; }

# For each other, for cargo-pgrx and for the tests.
export PG_MAJOR PG_CONFIG CARGO_PGRX PGRX_HOME
