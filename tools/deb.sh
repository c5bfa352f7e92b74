#!/usr/bin/env bash
# Builds the Debian packages for the server of PG_MAJOR in target/deb/NN: postgresql-NN-scru, and its debug symbols as
# postgresql-NN-scru-dbgsym. DEBFULLNAME and DEBEMAIL set the maintainer of the package, as in Debian's own tools.
source "$(dirname "$0")/lib/env.sh"

PG_CONFIG=/usr/lib/postgresql/$PG_MAJOR/bin/pg_config
PGRX_PG_CONFIG_PATH=$PG_CONFIG
SCRU=$ROOT
# Set explicitly, because debhelper runs the build with an empty home directory.
: "${CARGO_HOME:=$HOME/.cargo}" "${RUSTUP_HOME:=$HOME/.rustup}"
export PG_CONFIG PGRX_PG_CONFIG_PATH SCRU CARGO_HOME RUSTUP_HOME
unset DESTDIR

command -v dh >/dev/null || die 'debhelper is missing. Install it: apt install debhelper'
version=$(package_version scru)
maintainer="${DEBFULLNAME:-The maintainers of scru} <${DEBEMAIL:-scru@packages.invalid}>"
# The time of the last commit. In an unpacked archive, where there is no repository, the files have that time.
: "${SOURCE_DATE_EPOCH:=$(git log -1 --format=%ct 2>/dev/null || stat --format=%Y CHANGELOG.md)}"
export SOURCE_DATE_EPOCH
work=${CARGO_TARGET_DIR:-$ROOT/target}/deb/$PG_MAJOR
directory=$work/scru-$version

rm -rf "$work"
mkdir -p "$directory"
cp -r packaging/debian "$directory"
packaging/copyright.py "${CARGO_SOURCE[@]}" "${FEATURES[@]}" >"$directory/debian/copyright"
sed -i "s/@PG_MAJOR@/$PG_MAJOR/; s/@RUST_VERSION@/$RUST_VERSION/g; s/@MAINTAINER@/$maintainer/" "$directory/debian/control"
cat >"$directory/debian/changelog" <<CHANGELOG
scru ($version-1) unstable; urgency=medium

  * New version. The changes are listed in changelog.gz.

 -- $maintainer  $(date --utc --rfc-email --date="@$SOURCE_DATE_EPOCH")
CHANGELOG
cd "$directory"
options=(--build=binary --unsigned-changes --unsigned-buildinfo)
# dpkg does not know of a Rust that rustup installed.
is_rust_of_debian || options+=(--no-check-builddeps)
dpkg-buildpackage "${options[@]}"
say 'Debian packages:'
ls "$work"/*.deb
