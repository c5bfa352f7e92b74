#!/usr/bin/env bash
# Private servers, each with a folder of its own that holds its data, its log and its socket, which is the only way in.
# No server of the system is ever looked at.
#   server.sh start NAME [SETTING=VALUE…]   starts it if need be, and prints its folder
#                                           SERVER_PROGRAM: what runs as the server in place of `postgres`
#   server.sh restart NAME                  with the settings that it has
#   server.sh stop NAME
#   server.sh single NAME DATABASE [PROGRAM…]  while it is stopped: the statements of standard input, in one process, under PROGRAM
#   server.sh home                          makes the folder of them all, and prints it
#   server.sh copy [NAME]                   copies the server of PG_CONFIG into that folder, and prints the copy's pg_config
#   server.sh remove                        stops them all and removes their folders
source "$(dirname "$0")/env.sh"

# Under target/, unless the server's user cannot get there or a socket's path would be too long for the kernel (107 bytes).
find_home() {
    local here=$ROOT/target/servers longest
    longest=$(printf %s "$here/$PG_MAJOR-regress/.s.PGSQL.65432" | wc -c)
    if as_server test -x "$ROOT/target" 2>/dev/null && [ "$longest" -le 107 ]; then
        echo "$here"
    else
        echo "/var/tmp/scru-$(id -u)-$(printf %s "$ROOT" | cksum | cut -d ' ' -f 1)"
    fi
}

make_home() {
    id "$SERVER_USER" >/dev/null || die "PostgreSQL refuses to run as root, and there is no user $SERVER_USER to run it as."
    [ -e "$HOME_OF_ALL" ] || { mkdir -m 700 "$HOME_OF_ALL" && chown "$SERVER_USER" "$HOME_OF_ALL"; }
    # /var/tmp is everybody's: somebody else may have been there first.
    [ "$(stat -c %U "$HOME_OF_ALL")" = "$SERVER_USER" ] || die "$HOME_OF_ALL belongs to another user. Remove it first."
    [[ $HOME_OF_ALL == "$ROOT"/* ]] ||
        echo "Servers live in $HOME_OF_ALL: under target/ here their user cannot reach them, or a socket's path is too long." >&2
}

make_cluster() {
    echo "Making a private PostgreSQL $PG_MAJOR server in $FOLDER" >&2
    # Trust: only this user gets into the folder, and there is no other way in. The caller is its superuser.
    as_server "$(pg bindir)/initdb" --pgdata="$DATA" --username="$(id -un)" --auth=trust --encoding=UTF8 --no-locale >/dev/null
}

# The same paths below another root: PostgreSQL finds its files from where its program is. Headers are not copied.
copy_server() {
    local bindir root=$HOME_OF_ALL/copy-$PG_MAJOR${1:+-$1} folder
    bindir=$(pg bindir)
    [[ $bindir != "$HOME_OF_ALL"/* || -n ${1:-} ]] || { echo "$PG_CONFIG" && return; }
    for folder in "$bindir" "$(pg pkglibdir)" "$(pg sharedir)"; do
        mkdir -p "$root$folder"
        cp --recursive --preserve=mode,timestamps --update "$folder/." "$root$folder"
    done
    mkdir -p "$root$(dirname "$(pg includedir-server)")"
    ln -sfn "$(pg includedir-server)" "$root$(pg includedir-server)"
    echo "$root$bindir/pg_config"
}

ctl() { as_server "$(pg bindir)/pg_ctl" --silent --wait --pgdata="$DATA" "$@"; }

# The second line names the folder that the server was started in: a copy of a checkout has a copy of this file, too.
is_running() { [ "$(sed -n 2p "$DATA/postmaster.pid" 2>/dev/null)" = "$DATA" ] && ctl status >/dev/null; }
has_old_library() { [ "$(pg pkglibdir)/scru.so" -nt "$DATA/postmaster.pid" ]; }

start() {
    make_home
    as_server mkdir -p "$FOLDER"
    [ -f "$DATA/PG_VERSION" ] || make_cluster
    if is_running && has_old_library; then stop; fi
    if is_running; then echo "It is running already, in $FOLDER" >&2 && return; fi
    local options="-c listen_addresses='' -c port=5432 -c unix_socket_directories='$FOLDER'" setting
    for setting in "$@"; do options+=" -c $setting"; done
    ctl start ${SERVER_PROGRAM:+-p "$SERVER_PROGRAM"} --log="$FOLDER/log" --options="$options" >&2 || {
        tail -n 20 "$FOLDER/log" >&2
        die "The server did not start; its log is $FOLDER/log"
    }
    echo "Started the private server in $FOLDER" >&2
}

stop() {
    if is_running; then
        ctl stop --mode=fast
        echo "Stopped the private server in $FOLDER" >&2
    else
        echo "The private server is not running." >&2
    fi
}

restart() { ctl restart --mode=fast --log="$FOLDER/log" >&2; }

# A line is a statement.
single() { as_server "${@:2}" "$(pg bindir)/postgres" --single -D "$DATA" "$1"; }

remove() {
    [ -d "$HOME_OF_ALL" ] || return 0
    for FOLDER in "$HOME_OF_ALL"/*/; do
        DATA=${FOLDER}data
        if is_running; then stop; fi
    done
    rm -rf "$HOME_OF_ALL"
}

HOME_OF_ALL=$(find_home)
FOLDER=$HOME_OF_ALL/$PG_MAJOR-${2:-}
DATA=$FOLDER/data
case ${1:-} in
start)
    start "${@:3}"
    echo "$FOLDER"
    ;;
restart) restart ;;
stop) stop ;;
single) single "${@:3}" ;;
home)
    make_home
    echo "$HOME_OF_ALL"
    ;;
copy)
    make_home
    copy_server "${2:-}"
    ;;
remove) remove ;;
*) die "What should be done with the server?" ;;
esac
