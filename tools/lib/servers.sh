#!/usr/bin/env bash
# Provides servers of the other major versions. Downloads are kept in the user's cache, which all clones share. PostgreSQL 16 is
# a relocatable server from a Python wheel. The other versions run in a Debian release that has them, in its own root directory.
#   servers.sh prepare MAJOR        fetches the server unless it is cached; for 16 the last line is the path of its pg_config
#   servers.sh bare MAJOR           creates a Debian with the server and no compiler unless cached, and prints its directory
#   servers.sh builder MAJOR        creates a Debian with what the Debian packages need to be built unless cached, and prints its
#                                   directory
#   servers.sh seed MAJOR           copies this machine's build into a Debian that has none: a build there then compiles
#                                   only what depends on the server's version
#   servers.sh run MAJOR COMMAND…   runs a command of the project with that server: from 17 on within its Debian
#   servers.sh clean                removes the cache
source "$(dirname "$0")/env.sh"
shopt -s inherit_errexit

WHEEL=pgserver-0.1.4
declare -A DEBIAN=([15]=bookworm [17]=trixie [18]=sid [19]=sid)
# Whether the Debian has no compiler, and whether it builds the packages.
BARE='' BUILDER=''
# Version that is not released yet: only Debian experimental has it.
UNRELEASED=19

# ------------------------------------------------------------------------------------------ PostgreSQL 16, from a wheel

fetch_wheel() {
    ls "$CACHE/$WHEEL"-*.whl 2>/dev/null && return
    say 'Fetching PostgreSQL 16 (once; 11 MB)' >&2
    # The wheel's Python version does not matter: only the server in it is used.
    /usr/bin/python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version=3.11 --dest="$CACHE" \
        "${WHEEL/-/==}" >&2
    ls "$CACHE/$WHEEL"-*.whl
}

# Unpacks the server for this clone, which installs the extension into it, in a directory that the server's user can access.
prepare_16() {
    local wheel directory
    directory=$(tools/server.sh home)/$WHEEL
    if [ ! -d "$directory" ]; then
        wheel=$(fetch_wheel)
        rm -rf "$directory.new"
        /usr/bin/python3 -m zipfile -e "$wheel" "$directory.new"
        chmod +x "$directory.new"/pgserver/pginstall/{bin/*,lib/postgresql/pgxs/src/test/regress/pg_regress}
        mv "$directory.new" "$directory"
    fi
    echo "$directory/pgserver/pginstall/bin/pg_config"
}

run_16() {
    PG_CONFIG=$(prepare_16)
    PG_MAJOR=16 PGRX_PG_CONFIG_PATH=$PG_CONFIG "$@"
}

# -------------------------------------------------------------------- PostgreSQL 17 and newer, in a Debian of their own

# Prints the Debian packages to install: those of pg_partman and TimescaleDB, and those that tools/setup.sh requires for the tests
# and the benchmark. A Debian without a compiler is for tests that install a package.
packages() {
    local IFS=,
    if [ -n "$BUILDER" ]; then echo build-essential && return; fi
    if [ -n "$BARE" ]; then
        if [ "$MAJOR" = "$UNRELEASED" ]; then echo postgresql-common; else echo "postgresql-$MAJOR"; fi
        return
    fi
    # The server's headers include those of ICU.
    local names=(gcc g++ libc6-dev libclang-dev libicu-dev python3-pytest python3-pytest-xdist python3-hypothesis python3-psycopg
        libfaketime valgrind sudo debhelper iproute2 umoci)
    [ "$MAJOR" = "$UNRELEASED" ] ||
        names+=("postgresql-$MAJOR" "postgresql-server-dev-$MAJOR" "postgresql-$MAJOR-partman" "postgresql-$MAJOR-timescaledb")
    # After Debian 13, pg_buildext is in a package of its own.
    [ "$MAJOR" -lt 18 ] || names+=(postgresql-common-dev)
    [ "$MAJOR" != 17 ] || names+=(postgresql-17-pg-hint-plan)
    # The rehearsal of a release makes commits. It runs on the oldest and the newest server.
    [ "$MAJOR" != "${MAJORS[-1]}" ] || names+=(git)
    # Go's driver needs a newer Go than Debian 12 has, and is tested on one server.
    [ "$MAJOR" != 18 ] || names+=(golang-go golang-github-jackc-pgx-v5-dev)
    echo "${names[*]}"
}

# Installs the server, and the packages that must have its version.
install_unreleased() {
    local root=$1 names=(libpq5)
    [ -n "$BUILDER" ] || names+=("postgresql-$MAJOR" "postgresql-client-$MAJOR")
    [ -n "$BARE" ] || names+=("postgresql-server-dev-$MAJOR" libpq-dev)
    add_source "$root" experimental
    mkdir -p "$root/etc/postgresql-common/createcluster.d"
    echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/scru.conf"
    apt_in "$root" update && apt_in "$root" install "${names[@]/%//experimental}"
}

# A package that is built on a Debian with security updates may need the server that they contain.
gets_updates() { [ -n "$BARE$BUILDER" ] && [ "${DEBIAN[$MAJOR]}" != sid ]; }
install_updates() {
    local root=$1 policy=$1/usr/sbin/policy-rc.d
    add_source "$root" "${DEBIAN[$MAJOR]}-security" debian-security || return
    # No server starts here.
    printf '#!/bin/sh\nexit 101\n' >"$policy" && chmod +x "$policy" &&
        apt_in "$root" update && apt_in "$root" upgrade && rm "$policy"
}

# Prints what the Debian packages need to be built, and lintian. Debian 12 has no Rust that is new enough: the builder brings it.
build_dependencies() {
    local all=() each names=(lintian)
    IFS=, read -ra all <<<"$(sed -n '/^Build-Depends: /,/^Standards-Version/{s/^Build-Depends: //;/^Standards-Version/d;p}' \
        packaging/debian/control.in | tr -d '\n')"
    for each in "${all[@]}"; do
        [[ ${DEBIAN[$MAJOR]} == bookworm && $each =~ ^\ *(cargo|rustc|rustfmt)\  ]] || names+=("$each")
    done
    local IFS=,
    echo "${names[*]}"
}
# Debian 13 has a new enough Rust in its backports.
install_build_dependencies() {
    local root=$1 backports=${DEBIAN[$MAJOR]}-backports
    if [ "${DEBIAN[$MAJOR]}" = trixie ]; then
        add_source "$root" "$backports"
        printf 'Package: src:rustc\nPin: release n=%s\nPin-Priority: 990\n' "$backports" >"$root/etc/apt/preferences.d/rust"
    fi
    apt_in "$root" update && apt_in "$root" satisfy "$(build_dependencies)"
}

add_source() { echo "deb http://deb.debian.org/${3:-debian} $2 main" >>"$1/etc/apt/sources.list"; }
# apt_in ROOT COMMAND…: runs apt-get in a Debian. A mirror's list of experimental may have expired.
apt_in() {
    local options=(-q --yes --no-install-recommends -o Acquire::Retries=8 -o Acquire::Check-Valid-Until=false)
    cp /etc/resolv.conf /etc/hosts "$1/etc"
    # shellcheck disable=SC2016 # for the inner shell
    apart sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$1" env DEBIAN_FRONTEND=noninteractive \
        apt-get "${options[@]}" "${@:2}"
}

# Runs a command in its own mount and PID namespaces. If this script ends, even by a signal, so do the command, its processes
# and its mounts. The mounts are never visible outside of the namespace.
apart() { setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }

# Only one run at a time may use a Debian, because it installs the extension there. Those without a compiler and those of builders
# are only read, and have locks of their own.
lock() {
    exec {LOCK}>"$CACHE/${BARE:+bare-}${BUILDER:+builder-}$MAJOR.lock"
    flock --nonblock "$LOCK" || { say "Waiting for another run that has the Debian of PostgreSQL $MAJOR" && flock "$LOCK"; }
}

# Creates the Debian, or recreates it if the list of packages has changed. Does not extend the existing one, because the
# repositories may no longer have packages that fit it.
prepare_debian() {
    [ "$(wanted)" != "$(cat "$DIRECTORY/packages" 2>/dev/null)" ] || return 0
    say "Creating a Debian ${DEBIAN[$MAJOR]} with PostgreSQL $MAJOR in $DIRECTORY (once; some minutes, 2 GB)"
    rm -rf --one-file-system "$DIRECTORY.new" "$DIRECTORY"
    # debootstrap requests each package once, with wget.
    WGETRC=${WGETRC:-$ROOT/tools/lib/wgetrc} apart debootstrap --variant=minbase --include="$(packages)" "${DEBIAN[$MAJOR]}" "$DIRECTORY.new" ||
        die "debootstrap failed. Its log is $DIRECTORY.new/debootstrap/debootstrap.log"
    [ -z "$BUILDER" ] || install_build_dependencies "$DIRECTORY.new" || die "apt could not install the build dependencies."
    [ "$MAJOR" != "$UNRELEASED" ] || install_unreleased "$DIRECTORY.new" || die "apt could not install PostgreSQL $MAJOR."
    ! gets_updates || install_updates "$DIRECTORY.new" || die "apt could not install the security updates."
    rm -rf "$DIRECTORY.new"/var/cache/apt/archives/*.deb "$DIRECTORY.new"/var/lib/apt/lists/*
    wanted >"$DIRECTORY.new/packages"
    mv "$DIRECTORY.new" "$DIRECTORY"
}
wanted() {
    packages
    [ -z "$BUILDER" ] || build_dependencies
    ! gets_updates || echo "security updates of $(date +%Y-%m)"
}

# Runs inside of `apart`. The project has the same path as outside. target/ is separate, because programs built in a newer Debian
# do not run in an older one and the user postgres has another ID. The logs in target/test are shared.
# shellcheck disable=SC2317 # called by its name
enter() {
    local rust=$1 target=$ROOT/target/debian-$MAJOR
    shift
    bind() { mkdir -p "$1" "$DIRECTORY$2" && mount --bind "$1" "$DIRECTORY$2"; }
    mount -t proc proc "$DIRECTORY/proc"
    mount --rbind /dev "$DIRECTORY/dev"
    mount --rbind /sys "$DIRECTORY/sys"
    rm -rf "$target/tmp" && mkdir -p "$target/tmp" && chmod 1777 "$target/tmp"
    bind "$target/tmp" /tmp
    bind "$ROOT" "$ROOT"
    bind "$target" "$ROOT/target"
    bind "$ROOT/target/test" "$ROOT/target/test"
    bind "$rust" /opt/rust
    bind "$CARGO" "$CARGO"
    # An older server, from which the tests run pg_upgrade.
    [ ! -d "$OLD_SERVER" ] || bind "$OLD_SERVER" /opt/old-server
    [ ! -d "$OLD_ROOT" ] || bind_programs
    cp /etc/resolv.conf /etc/hosts "$DIRECTORY/etc"
    chroot "$DIRECTORY" /usr/bin/env --ignore-environment --chdir="$ROOT" "$@"
}

# Makes the programs of the older server run in this Debian: a wrapper starts each with the dynamic loader and the libraries of
# the older Debian. A program finds its server's files and other programs relative to its wrapper.
# shellcheck disable=SC2317 # called by `enter`
bind_programs() {
    local directory=/usr/lib/postgresql/17/bin wrappers=$ROOT/target/debian-$MAJOR/programs-17 program
    rm -rf "$wrappers" && mkdir "$wrappers"
    for program in "$OLD_ROOT$directory"/*; do
        cat >"$wrappers/${program##*/}" <<WRAPPER
#!/bin/sh
exec /opt/old-root/lib64/ld-linux*.so.* --argv0 "\$0" --library-path "\$(echo /opt/old-root/usr/lib/*-linux-gnu)" \\
    /opt/old-root$directory/${program##*/} "\$@"
WRAPPER
    done
    chmod +x "$wrappers"/*
    bind "$OLD_ROOT" /opt/old-root
    bind "$wrappers" "/opt/old-server$directory"
}

# The programs among the build output run with the C library of this machine or a newer one.
seed() {
    local target=$ROOT/target/debian-$MAJOR libc
    libc=$({
        c_library /
        c_library "$DIRECTORY"
    } | sort --version-sort | tail -n 1)
    if [ -d "target/$BUILD_PROFILE" ] && [ ! -d "$target/$BUILD_PROFILE" ] && [ "$libc" = "$(c_library "$DIRECTORY")" ]; then
        mkdir -p "$target"
        cp -a "target/$BUILD_PROFILE" "$target"
    fi
}
# Prints the version of the C library below a root directory.
c_library() { chroot "$1" ldd --version | sed -n '1s/.* //p'; }

# Sets OLD_SERVER and OLD_ROOT, the directories of an older server, and OLD_PG_CONFIG, the path of its pg_config inside of the
# Debian; empty if the extension is not installed there. The older server of 17 is 16; that of newer ones is 17, the last version
# without temporal keys.
find_old_server() {
    OLD_SERVER=$(tools/server.sh home)/$WHEEL OLD_ROOT=
    local pg_config=pgserver/pginstall/bin/pg_config library=pgserver/pginstall/lib/postgresql/scru.so
    if [ "$MAJOR" -gt 17 ]; then
        OLD_SERVER=$ROOT/target/debian-17/servers/copy-17 OLD_ROOT=$CACHE/${DEBIAN[17]}-17
        pg_config=usr/lib/postgresql/17/bin/pg_config library=usr/lib/postgresql/17/lib/scru.so
    fi
    if [ -f "$OLD_SERVER/$library" ]; then OLD_PG_CONFIG=/opt/old-server/$pg_config; else OLD_SERVER='' OLD_ROOT=''; fi
    export OLD_SERVER OLD_ROOT
}

# Uses the machine's Rust toolchain and downloaded crates, so that the build in the Debian needs no network.
run_debian() {
    local path=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$CARGO/bin OLD_PG_CONFIG=
    cargo fetch --quiet --locked
    find_old_server
    apart "$ROOT/tools/lib/servers.sh" enter "$MAJOR" "$(rustc --print sysroot)" HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH="$path" \
        CARGO_HOME="$CARGO" CARGO_NET_OFFLINE=true CARGO_INCREMENTAL=0 PG_MAJOR="$MAJOR" WORKERS="${WORKERS:-}" LIBRARY_PROFILE="${LIBRARY_PROFILE:-}" \
        ${TEST_ALL:+TEST_ALL="$TEST_ALL"} ${TEST_LONG:+TEST_LONG="$TEST_LONG"} \
        ${OLD_PG_CONFIG:+OLD_PG_CONFIG="$OLD_PG_CONFIG"} "$@"
}

# ----------------------------------------------------------------------------------------------------------------------

MAJOR=${2:-}
DIRECTORY=$CACHE/${DEBIAN[${MAJOR:-0}]:-}-$MAJOR
CARGO=${CARGO_HOME:-$HOME/.cargo}

is_root || die 'debootstrap, mount and chroot need root. Run: sudo make …'
mkdir -p "$CACHE"
case ${1:-}-$MAJOR in
bare-1[5789] | builder-1[5789])
    if [ "$1" = bare ]; then BARE=yes; else BUILDER=yes; fi
    DIRECTORY=$CACHE/$1-$MAJOR
    lock
    prepare_debian >&2
    echo "$DIRECTORY"
    ;;
prepare-16) prepare_16 ;;
prepare-1[7-9]) lock && prepare_debian ;;
seed-1[7-9]) lock && prepare_debian && seed ;;
run-16) run_16 "${@:3}" ;;
run-1[7-9]) lock && prepare_debian && run_debian "${@:3}" ;;
enter-*) enter "${@:3}" ;;
clean-)
    for MAJOR in "${!DEBIAN[@]}"; do lock && BARE=yes lock && BUILDER=yes lock; done
    rm -rf --one-file-system "$CACHE"
    ;;
*) die 'Missing or unknown command or version. See the head of tools/lib/servers.sh.' ;;
esac
