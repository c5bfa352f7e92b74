#!/usr/bin/env bash
# server-source.sh [MAJOR]: prints the path of the source archive of this or the selected version of PostgreSQL, from Debian's source
# package. Downloads it into the cache once.
source "$(dirname "$0")/env.sh"
MAJOR=${1:-$PG_MAJOR}

# Runs a program of apt with lists of source packages in a separate directory, so that the machine's configuration is not changed. A
# mirror's lists may have expired.
apt_source() {
    "$1" -o Dir::Etc::SourceList="$WORK/apt/sources.list" -o Dir::Etc::SourceParts="$WORK/apt/sources.list.d" \
        -o Dir::State::Lists="$WORK/lists" -o Dir::Cache="$WORK" -o Acquire::Check-Valid-Until=false "${@:2}"
}
fetch_source() {
    local version
    mkdir -p "$WORK"/{apt,lists/partial,archives/partial}
    cp -rL /etc/apt/sources.list* "$WORK/apt"
    find "$WORK/apt" -name '*.list' -exec sed -i 's/^deb /deb-src /' {} +
    find "$WORK/apt" -name '*.sources' -exec sed -i 's/^Types:.*/Types: deb-src/' {} +
    # Not every repository has source packages.
    apt_source apt-get update || true
    # A mirror of the security updates may lack the newest.
    for version in $(apt_source apt-cache showsrc "postgresql-$MAJOR" | sed -n 's/^Version: //p' | sort -rV); do
        (cd "$WORK" && apt_source apt-get source --download-only "postgresql-$MAJOR=$version") && return
    done
    die "apt has no source package postgresql-$MAJOR."
}

ARCHIVE=$CACHE/postgresql-$MAJOR.orig.tar
if [ ! -f "$ARCHIVE" ]; then
    mkdir -p "$CACHE"
    WORK=$(mktemp -d "$CACHE/source-XXXXXX")
    trap 'rm -rf "$WORK"' EXIT
    fetch_source >&2
    mv "$WORK"/*.orig.tar.* "$ARCHIVE"
fi
echo "$ARCHIVE"
