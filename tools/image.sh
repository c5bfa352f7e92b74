#!/usr/bin/env bash
# Builds a container image of the extension's files only, in target/image/NN: as a directory in OCI image layout, and as a tar
# file of that directory. Operators such as CloudNativePG mount it as a volume, and the server (PostgreSQL 18 or newer) finds the
# extension through extension_control_path and dynamic_library_path. The script runs no container and needs no daemon.
source "$(dirname "$0")/lib/env.sh"

[ "${PG_MAJOR:-0}" -ge 18 ] || die "PostgreSQL ${PG_MAJOR:-} has no extension_control_path: make image PG_MAJOR=18"
command -v umoci >/dev/null || die 'umoci is missing. Install it: apt install umoci'
version=$(package_version scru)
work=${CARGO_TARGET_DIR:-$ROOT/target}/image/$PG_MAJOR
name=scru-$version-pg$PG_MAJOR
image=$work/$name:$version
files=$work/files

rm -rf "$work"
mkdir -p "$work" "$files"/{lib,share,licenses}
DESTDIR=$work/installed tools/install.sh
cp "$work/installed$(pg pkglibdir)/scru.so" "$files/lib"
strip --strip-unneeded "$files/lib/scru.so"
cp -r "$work/installed$(pg sharedir)/extension" "$files/share"
cp LICENSE "$files/licenses"
packaging/copyright.py >"$files/licenses/copyright"

# Two builds have the same bytes: all times are that of the package's version.
time=@$(dpkg-parsechangelog --file packaging/debian/changelog --show-field Timestamp)
created=$(date --utc --date="$time" +%Y-%m-%dT%H:%M:%SZ)
find "$files" -exec touch --no-dereference --date="$time" {} +
umoci init --layout "$work/$name"
umoci new --image "$image"
umoci insert --image "$image" --history.created="$created" "$files" /
umoci config --image "$image" --created="$created" --history.created="$created" \
    --config.label "org.opencontainers.image.title=scru" \
    --config.label "org.opencontainers.image.version=$version" \
    --config.label "org.opencontainers.image.licenses=Apache-2.0"
umoci gc --layout "$work/$name"
tar --directory="$work/$name" --sort=name --mtime="$time" --owner=0 --group=0 --numeric-owner --create --file="$work/$name.tar" .
say "Image $version in OCI layout:"
ls -d "$work/$name" "$work/$name.tar"
