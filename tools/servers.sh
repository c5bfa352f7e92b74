#!/usr/bin/env bash
# Servers of the other major versions. What is fetched is kept in the user's cache, where a fresh clone finds it: for 16 a
# wheel with a relocatable server in it; for the others a Debian that has them, as a folder that serves as root.
#   servers.sh prepare MAJOR        makes it if need be; for 16 the last line is the path of its pg_config
#   servers.sh bare                 makes a Debian with the oldest server and no compiler, if need be; prints its folder
#   servers.sh run MAJOR COMMAND…   runs a command of the project with that server: from 17 on within its Debian
#   servers.sh clean                removes the cache
source "$(dirname "$0")/env.sh"
shopt -s inherit_errexit

WHEEL=pgserver-0.1.4
declare -A DEBIAN=([15]=bookworm [17]=trixie [18]=sid [19]=sid)
# Servers that are not released yet: their Debian has them in experimental only.
UNRELEASED=19

# ----------------------------------------------------------------------------------------------------- 16, out of a wheel

fetch_wheel() {
    ls "$CACHE/$WHEEL"-*.whl 2>/dev/null && return
    say 'Fetching PostgreSQL 16 (once; 11 MB)' >&2
    # Only the server inside is of use, so any Python's will do.
    /usr/bin/python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version=3.11 --dest="$CACHE" \
        "${WHEEL/-/==}" >&2
    ls "$CACHE/$WHEEL"-*.whl
}

# Unpacked for this clone alone, which will install into it, and where the server's user can get.
prepare_16() {
    local wheel folder
    folder=$(tools/server.sh home)/$WHEEL
    if [ ! -d "$folder" ]; then
        wheel=$(fetch_wheel)
        rm -rf "$folder.new"
        /usr/bin/python3 -m zipfile -e "$wheel" "$folder.new"
        chmod +x "$folder.new"/pgserver/pginstall/{bin/*,lib/postgresql/pgxs/src/test/regress/pg_regress}
        mv "$folder.new" "$folder"
    fi
    echo "$folder/pgserver/pginstall/bin/pg_config"
}

run_16() {
    PG_CONFIG=$(prepare_16)
    PG_MAJOR=16 PGRX_PG_CONFIG_PATH=$PG_CONFIG "$@"
}

# ------------------------------------------------------------------------------------------ from 17 on, in their own Debian

# What tools/setup.sh looks for there, for the tests and for the benchmark, pg_partman and TimescaleDB. The Debian of 15 is one
# to install packages in: it has the server, and no compiler.
packages() {
    local IFS=,
    [ "$MAJOR" != 15 ] || { echo "postgresql-$MAJOR" && return; }
    # The server's headers include those of ICU.
    local names=(gcc g++ libc6-dev libclang-dev libicu-dev python3-pytest python3-pytest-xdist python3-psycopg python3-matplotlib
        libfaketime valgrind sudo debhelper iproute2 umoci)
    [ "$MAJOR" = "$UNRELEASED" ] ||
        names+=("postgresql-$MAJOR" "postgresql-server-dev-$MAJOR" "postgresql-$MAJOR-partman" "postgresql-$MAJOR-timescaledb")
    # Go's driver, which needs a newer Go than Debian 12 has: on one server.
    [ "$MAJOR" != 18 ] || names+=(golang-go golang-github-jackc-pgx-v5-dev)
    echo "${names[*]}"
}

# The server itself and what has to be of its version. A mirror's list of experimental may be past its date.
install_unreleased() {
    local root=$1 names=("postgresql-$MAJOR" "postgresql-client-$MAJOR" "postgresql-server-dev-$MAJOR" libpq5 libpq-dev)
    echo 'deb http://deb.debian.org/debian experimental main' >>"$root/etc/apt/sources.list"
    cp /etc/resolv.conf /etc/hosts "$root/etc"
    mkdir -p "$root/etc/postgresql-common/createcluster.d"
    echo 'create_main_cluster = false' >"$root/etc/postgresql-common/createcluster.d/scru.conf"
    # shellcheck disable=SC2016 # for the inner shell
    apart sh -c 'mount -t proc proc "$0/proc" && exec chroot "$0" "$@"' "$root" env DEBIAN_FRONTEND=noninteractive sh -c '
        apt="apt-get -q -o Acquire::Check-Valid-Until=false"
        $apt update && $apt install --yes --no-install-recommends "$@"' apt "${names[@]/%//experimental}"
}

# With mounts and processes of its own, which end with the command, and that with this script, however it ends. So nothing
# stays mounted; and nothing ever is, as seen from out here.
apart() { setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }

# One run at a time has such a Debian, for it installs into it.
lock() {
    exec {LOCK}>"$CACHE/$MAJOR.lock"
    flock --nonblock "$LOCK" || { say "Waiting for another run that has the Debian of PostgreSQL $MAJOR" && flock "$LOCK"; }
}

# Made anew where it was made of other packages: an older one may have nowhere to get them from.
prepare_debian() {
    [ "$(packages)" != "$(cat "$FOLDER/packages" 2>/dev/null)" ] || return 0
    say "Making a Debian ${DEBIAN[$MAJOR]} with PostgreSQL $MAJOR in $FOLDER (once; some minutes, 2 GB)"
    rm -rf --one-file-system "$FOLDER.new" "$FOLDER"
    apart debootstrap --variant=minbase --include="$(packages)" "${DEBIAN[$MAJOR]}" "$FOLDER.new" ||
        die "debootstrap failed. More is in $FOLDER.new/debootstrap/debootstrap.log"
    [ "$MAJOR" != "$UNRELEASED" ] || install_unreleased "$FOLDER.new"
    rm -rf "$FOLDER.new"/var/cache/apt/archives/*.deb "$FOLDER.new"/var/lib/apt/lists/*
    packages >"$FOLDER.new/packages"
    mv "$FOLDER.new" "$FOLDER"
}

# Runs inside of `apart`. The project lies where it lies out here, but for target/: what is built in a newer Debian does not
# run in an older one, and its postgres is another user. The logs are those of all.
# shellcheck disable=SC2317 # called by its name
enter() {
    local rust=$1 target=$ROOT/target/debian-$MAJOR
    shift
    bind() { mkdir -p "$1" "$FOLDER$2" && mount --bind "$1" "$FOLDER$2"; }
    mount -t proc proc "$FOLDER/proc"
    mount --rbind /dev "$FOLDER/dev"
    # The benchmark limits the memory of a server by a control group.
    mount --rbind /sys "$FOLDER/sys"
    rm -rf "$target/tmp" && mkdir -p "$target/tmp" && chmod 1777 "$target/tmp"
    bind "$target/tmp" /tmp
    bind "$ROOT" "$ROOT"
    bind "$target" "$ROOT/target"
    bind "$ROOT/target/test" "$ROOT/target/test"
    bind "$rust" /opt/rust
    bind "$CARGO" "$CARGO"
    # An older server, for pg_upgrade to come from.
    [ ! -d "$OLD_SERVER" ] || bind "$OLD_SERVER" /opt/old-server
    [ ! -d "$OLD_ROOT" ] || bind_programs
    cp /etc/hosts "$FOLDER/etc/hosts"
    chroot "$FOLDER" /usr/bin/env --ignore-environment --chdir="$ROOT" "$@"
}

# What is built for one Debian does not run in another, but for this: each program is started by its own Debian's loader, with
# the libraries of that. It looks for its server's other files, and for other programs, from where its wrapper is.
# shellcheck disable=SC2317 # called by `enter`
bind_programs() {
    local folder=/usr/lib/postgresql/17/bin wrappers=$ROOT/target/debian-$MAJOR/programs-17 program
    rm -rf "$wrappers" && mkdir "$wrappers"
    for program in "$OLD_ROOT$folder"/*; do
        cat >"$wrappers/${program##*/}" <<WRAPPER
#!/bin/sh
exec /opt/old-root/lib64/ld-linux*.so.* --argv0 "\$0" --library-path "\$(echo /opt/old-root/usr/lib/*-linux-gnu)" \\
    /opt/old-root$folder/${program##*/} "\$@"
WRAPPER
    done
    chmod +x "$wrappers"/*
    bind "$OLD_ROOT" /opt/old-root
    bind "$wrappers" "/opt/old-server$folder"
}

# Sets where the older server is, and its pg_config as seen from in there: that of 17 for the younger ones, for it is the last one
# without temporal keys, and that of 16 for 17. It counts only if it has the extension.
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

# Rust's toolchain and its downloaded crates are those of the machine: nothing is fetched in there.
run_debian() {
    local path=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:$CARGO/bin OLD_PG_CONFIG=
    cargo fetch --quiet --locked
    find_old_server
    apart "$ROOT/tools/servers.sh" enter "$MAJOR" "$(rustc --print sysroot)" HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" PATH="$path" \
        CARGO_HOME="$CARGO" CARGO_NET_OFFLINE=true CARGO_INCREMENTAL=0 PG_MAJOR="$MAJOR" WORKERS="${WORKERS:-}" \
        ${OLD_PG_CONFIG:+OLD_PG_CONFIG="$OLD_PG_CONFIG"} "$@"
}

# -------------------------------------------------------------------------------------------------------------------------

MAJOR=${2:-}
FOLDER=$CACHE/${DEBIAN[${MAJOR:-0}]:-}-$MAJOR
CARGO=${CARGO_HOME:-$HOME/.cargo}

is_root || die 'This makes and enters folders that serve as root, by debootstrap, mount and chroot, for which it has to be root: sudo make …'
mkdir -p "$CACHE"
case ${1:-}-$MAJOR in
bare-)
    MAJOR=15
    FOLDER=$CACHE/${DEBIAN[$MAJOR]}-$MAJOR
    lock
    prepare_debian >&2
    echo "$FOLDER"
    ;;
prepare-16) prepare_16 ;;
prepare-1[7-9]) lock && prepare_debian ;;
run-16) run_16 "${@:3}" ;;
run-1[7-9]) lock && prepare_debian && run_debian "${@:3}" ;;
enter-*) enter "${@:3}" ;;
clean-)
    for MAJOR in "${!DEBIAN[@]}"; do lock; done
    rm -rf --one-file-system "$CACHE"
    ;;
*) die 'What should be done with which server? 16, 17, 18 or 19?' ;;
esac
