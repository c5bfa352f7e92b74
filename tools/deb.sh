#!/usr/bin/env bash
# Builds the Debian packages for the server of PG_MAJOR in target/deb/NN: postgresql-NN-scru, and its debug symbols as
# postgresql-NN-scru-dbgsym.
source "$(dirname "$0")/lib/env.sh"

PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
PGRX_PG_CONFIG_PATH=$PG_CONFIG
# packaging/debian/rules: where the sources are, and for which servers it builds.
SCRU=$ROOT PG_SUPPORTED_VERSIONS=$PG_MAJOR
# Set explicitly, because debhelper runs the build with an empty home directory.
: "${CARGO_HOME:=$HOME/.cargo}" "${RUSTUP_HOME:=$HOME/.rustup}"
export PG_CONFIG PGRX_PG_CONFIG_PATH SCRU PG_SUPPORTED_VERSIONS CARGO_HOME RUSTUP_HOME
unset DESTDIR

command -v dh >/dev/null || die 'debhelper is missing. Install it: apt install debhelper'
work=${CARGO_TARGET_DIR:-$ROOT/target}/deb/$PG_MAJOR
directory=$work/scru-$(package_version scru)

rm -rf "$work"
mkdir -p "$directory"
cp -r packaging/debian "$directory"
cd "$directory"
options=(--build=binary --unsigned-changes --unsigned-buildinfo)
# dpkg does not know of a Rust that rustup installed.
is_rust_of_debian || options+=(--no-check-builddeps)
dpkg-buildpackage "${options[@]}"
say 'Debian packages:'
ls "$work"/*.deb
