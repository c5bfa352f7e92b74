#!/usr/bin/env bash
# fresh-root.sh [--user] SUITE COMMAND…: makes a new Debian with only the packages of this suite below, clones the last commit into
# it, and runs the commands in the clone, each a line of shell, as root or as a user who may use sudo. Runs all of them, and fails
# if one does. A test that misses a program, as it may on another machine, fails here (REQUIRE_PROGRAMS). The Debian is removed at
# the end. Only downloads are cached. target/test is that of this tree. SUITE:
#   bookworm  has this machine's Rust, as rustup installs it, and a C compiler
#   trixie    has no compiler
source "$(dirname "$0")/env.sh"

declare -A PACKAGES=([bookworm]='ca-certificates gcc git libc6-dev make sudo' [trixie]='ca-certificates git make')
DOWNLOADS=$CACHE/downloads
CARGO=${CARGO_HOME:-$HOME/.cargo}
# The variables that name the certificates and proxies of this machine, and those that make a build faster.
VARIABLES=(SSL_CERT_FILE PIP_CERT NODE_EXTRA_CA_CERTS http_proxy https_proxy no_proxy CARGO_INCREMENTAL CARGO_PROFILE_DEV_DEBUG
    LIBRARY_PROFILE)

# See `apart` in tools/lib/servers.sh.
apart() { setpriv --pdeathsig=KILL unshare --mount --pid --fork --kill-child --mount-proc "$@"; }

# Runs a command in the new Debian.
inside() {
    local variable environment=(HOME="$HOME_INSIDE" LANG=C.UTF-8 TERM=dumb REQUIRE_PROGRAMS=1)
    environment+=(PATH="$HOME_INSIDE/.cargo/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin")
    for variable in "${VARIABLES[@]}"; do [ -z "${!variable:-}" ] || environment+=("$variable=${!variable}"); done
    chroot "$NEW" /usr/bin/env --ignore-environment "${environment[@]}" "$@"
}

bind() { mkdir -p "$1" "$NEW$2" && mount --bind "$1" "$NEW$2"; }
copy() { [ ! -e "$1" ] || { mkdir -p "$NEW$2" && cp -r "$1" "$NEW$2"; }; }

# The root directory is a mount point, so that programs inside can change how its mounts propagate.
mount_system() {
    mount --bind "$NEW" "$NEW"
    mount -t proc proc "$NEW/proc"
    mount --rbind /sys "$NEW/sys"
    mount --rbind /dev "$NEW/dev"
    mount -t tmpfs -o mode=1777 tmpfs "$NEW/dev/shm"
}

# Copies this machine's way to the registries, and the crates that it has downloaded.
copy_network() {
    copy /etc/resolv.conf /etc
    copy /etc/hosts /etc
    copy /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs
    copy /etc/pip.conf /etc
    copy "$HOME/.npmrc" "$HOME_INSIDE"
    copy "$CARGO/config.toml" "$HOME_INSIDE/.cargo"
    copy "$CARGO/registry/cache" "$HOME_INSIDE/.cargo/registry"
    copy "$CARGO/registry/index" "$HOME_INSIDE/.cargo/registry"
}

make_user() {
    inside useradd --no-create-home --home-dir="$HOME_INSIDE" --shell=/bin/bash "$NAME"
    inside chown -R "$NAME:" "$HOME_INSIDE"
    echo "$NAME ALL=(ALL) NOPASSWD: ALL" >"$NEW/etc/sudoers.d/$NAME"
}

# Rust as rustup installs it. What is added to it inside, such as another target, disappears with the new Debian. A file system
# that cannot be the upper layer of an overlay gets a copy.
mount_rust() {
    local toolchain rustup=${RUSTUP_HOME:-$HOME/.rustup}
    toolchain=$(rustc --print sysroot)
    mkdir -p "$NEW$HOME_INSIDE"/{.cargo/bin,.rustup} "$WORK/rust"/{changes,work}
    find "$CARGO/bin" \( -name rustup -o -lname rustup \) -exec cp -a -t "$NEW$HOME_INSIDE/.cargo/bin" {} +
    mount -t overlay rust -o "lowerdir=$rustup,upperdir=$WORK/rust/changes,workdir=$WORK/rust/work" "$NEW$HOME_INSIDE/.rustup" ||
        cp -a "$rustup/." "$NEW$HOME_INSIDE/.rustup"
    inside rustup --quiet default "${toolchain##*/}"
}

# Runs inside of `apart`.
enter() {
    local command failed time status=0
    mount_system
    copy_network
    [ "$NAME" = root ] || make_user
    [ "$SUITE" = trixie ] || mount_rust
    git clone --quiet "$ROOT" "$NEW$CLONE"
    if [ "$NAME" = root ]; then
        bind "$ROOT/target/test" "$CLONE/target/test"
        bind "$DOWNLOADS/apt" /var/cache/apt/archives
        bind "$DOWNLOADS/pip" "$HOME_INSIDE/.cache/pip"
        bind "$DOWNLOADS/npm" "$HOME_INSIDE/.npm"
    else
        inside chown -R "$NAME:" "$CLONE"
    fi
    for command in "$@"; do
        say "$NAME: $command"
        SECONDS=0 failed=0 time=$(date +%T)
        inside runuser -u "$NAME" -- bash -c "cd '$CLONE' && $command" </dev/null || failed=1
        say "$NAME: $command: $((1 - failed)) passed, $failed failed, $SECONDS s"
        echo "${command// /_} $((1 - failed)) $failed 0 - $SECONDS $time" >>"$LOGS/results"
        status=$((status | failed))
    done
    exit "$status"
}

is_root || die 'debootstrap, mount and chroot need root. Run: sudo …'
if [ "${1:-}" = enter ]; then
    enter "${@:2}"
fi
tools/setup.sh root
export NAME=root HOME_INSIDE=/root CLONE=$ROOT SUITE LOGS WORK NEW
if [ "${1:-}" = --user ]; then
    NAME=contributor HOME_INSIDE=/home/contributor CLONE=/home/contributor/scru
    shift
fi
SUITE=${1:-}
[ -n "${PACKAGES[$SUITE]:-}" ] || die 'Missing or unknown suite. See the head of tools/lib/fresh-root.sh.'
packages=${PACKAGES[$SUITE]}
[ "$NAME" = root ] || packages+=" sudo"
LOGS=$ROOT/target/test/fresh-$SUITE
[ "$NAME" = root ] || LOGS+=-user
rm -rf "$LOGS"
mkdir -p "$LOGS"
WORK=$(mktemp -d /var/tmp/scru-fresh-XXXXXX)
# Nobody waits for the removal, which takes minutes on a disk that discards the blocks of each file.
trap 'rm -rf --one-file-system "$WORK" >/dev/null 2>&1 &' EXIT
NEW=$WORK/root
mkdir -p "$DOWNLOADS/apt/partial"
say "Creating a new Debian $SUITE in $NEW"
WGETRC=${WGETRC:-$ROOT/tools/lib/wgetrc} apart debootstrap --variant=minbase --include="${packages// /,}" \
    --cache-dir="$DOWNLOADS/apt" "$SUITE" "$NEW" >"$WORK/log" 2>&1 || { tail -n 20 "$WORK/log" && die 'debootstrap failed.'; }
apart "$0" enter "${@:2}"
