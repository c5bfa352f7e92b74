#!/usr/bin/env bash
# packages.sh [MAJOR…]: builds the Debian packages of the last commit, as a distribution does, for each server that a Debian has, or
# for the given ones. Each is built in a Debian with its build dependencies only, by dpkg-buildpackage in the unpacked archive of
# `make dist` with the crates of `make vendor`, by a user without a home directory and without a network. The Rust is that of the
# Debian or, for Debian 12, which has none that is new enough, this machine's. Then runs that Debian's lintian. The packages, and
# their checksums as SHA256SUMS, are in target/packages; the logs are beside them. Needs root.
source "$(dirname "$0")/lib/env.sh"

WORK=${CARGO_TARGET_DIR:-$ROOT/target}/packages
NAME=scru-$(package_version scru)
SERVERS=(15 17 18 19)

# The sources as a user of docs/install.md prepares them.
prepare_sources() {
    local archive
    archive=$(tools/dist.sh | tail -n 1)
    rm -rf "$WORK/sources"
    mkdir -p "$WORK/sources"
    unzip -q "$archive" -d "$WORK/sources"
    (cd "$WORK/sources/$NAME" && tools/vendor.sh && cp -r packaging/debian .)
}

# Runs inside of its own namespaces, which have no network.
enter() {
    local root=$1 rust=$2 path=/usr/local/bin:/usr/bin:/bin options=(--build=binary --no-sign) versions=()
    mount --bind "$root" "$root"
    mount -t proc proc "$root/proc"
    mount --rbind /dev "$root/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
    mkdir -p "$root/build" "$root/opt/rust"
    mount --bind "$WORK/$MAJOR" "$root/build"
    # dpkg does not know of this Rust.
    if [ -n "$rust" ]; then
        mount --bind "$rust" "$root/opt/rust"
        path=/opt/rust/bin:$path options+=(--no-check-builddeps)
    fi
    # Debian's list of servers does not have one that only experimental has.
    [ "$MAJOR" != 19 ] || versions=(PG_SUPPORTED_VERSIONS=19)
    inside() {
        chroot "$root" setpriv --reuid=nobody --regid=nogroup --clear-groups env --ignore-environment --chdir="$1" \
            HOME=/nonexistent LANG=C.UTF-8 PATH="$path" "${versions[@]}" "${@:2}"
    }
    inside "/build/$NAME" dpkg-buildpackage "${options[@]}"
    inside /build sh -c 'lintian --fail-on=error scru_*.changes'
}

build() {
    local rust='' root log=$WORK/$MAJOR.log directory=$WORK/$MAJOR
    root=$(tools/lib/servers.sh builder "$MAJOR" | tail -n 1)
    [ -n "$(find "$root/usr/bin" -name rustc)" ] || rust=$(rustc --print sysroot)
    say "Building the packages for PostgreSQL $MAJOR in Debian $(cat "$root/etc/debian_version"): the log is $log"
    rm -rf "$directory"
    mkdir -p "$directory"
    cp -r "$WORK/sources/$NAME" "$directory"
    chown -R nobody:nogroup "$directory"
    MAJOR=$MAJOR setpriv --pdeathsig=KILL unshare --mount --net --pid --fork --kill-child "$0" enter "$root" "$rust" \
        >"$log" 2>&1 || { tail -n 20 "$log" && die "The packages for PostgreSQL $MAJOR could not be built."; }
    cp "$directory"/*.deb "$WORK"
    rm -rf "$directory"
}

if [ "${1:-}" = enter ]; then
    enter "${@:2}"
    exit
fi
is_root || die 'debootstrap, mount and chroot need root. Run: sudo make packages'
tools/setup.sh packages
[ $# = 0 ] || SERVERS=("$@")
prepare_sources
for MAJOR in "${SERVERS[@]}"; do build; done
say "Packages in $WORK:"
cd "$WORK"
sha256sum -- *.deb | tee SHA256SUMS
