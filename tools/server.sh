#!/usr/bin/env bash
# Manages private servers. Each has its own directory with its data, log and socket, and accepts connections only on that socket.
# The system's servers are never used.
#   server.sh start NAME [SETTING=VALUE…]   starts the server unless it is running, and prints its directory;
#                                           runs SERVER_PROGRAM, if it is set, instead of `postgres`
#   server.sh restart NAME                  restarts it with its present settings
#   server.sh stop NAME                     stops it
#   server.sh single NAME DATABASE [PROGRAM…]  runs the statements of standard input in single-user mode, under PROGRAM, on a
#                                           stopped server
#   server.sh home                          creates the directory of all private servers, and prints it
#   server.sh copy [NAME]                   copies the server of PG_CONFIG into that directory, and prints the copy's pg_config
#   server.sh remove                        stops all private servers, and removes their directories
source "$(dirname "$0")/lib/env.sh"

HERE=$ROOT/target/servers
ELSEWHERE=/var/tmp/scru-$(id -u)-$(printf %s "$ROOT" | cksum | cut -d ' ' -f 1)

# Prints HERE, or ELSEWHERE if the server's user has no access to target/ or the path of a socket would exceed the kernel's limit of
# 107 bytes. Creates target/ first: otherwise, the result would change with the first build.
find_home() {
    local longest
    longest=$(printf %s "$HERE/$PG_MAJOR-regress/.s.PGSQL.65432" | wc -c)
    mkdir -p "$ROOT/target"
    if as_server test -x "$ROOT/target" 2>/dev/null && [ "$longest" -le 107 ]; then echo "$HERE"; else echo "$ELSEWHERE"; fi
}

make_home() {
    id "$SERVER_USER" >/dev/null || die "PostgreSQL refuses to run as root, and there is no user $SERVER_USER to run it as."
    [ -e "$HOME_OF_ALL" ] || { mkdir -m 700 "$HOME_OF_ALL" && chown "$SERVER_USER" "$HOME_OF_ALL"; }
    # In /var/tmp another user may have created a directory of this name.
    [ "$(stat -c %U "$HOME_OF_ALL")" = "$SERVER_USER" ] || die "$HOME_OF_ALL belongs to another user. Remove it first."
    [[ $HOME_OF_ALL == "$ROOT"/* ]] ||
        echo "Private servers are in $HOME_OF_ALL: their user has no access to target/, or a socket's path would be too long." >&2
}

make_cluster() {
    echo "Creating a private PostgreSQL $PG_MAJOR server in $DIRECTORY" >&2
    # Trust authentication: only the server's user has access to the directory with the socket. The caller is a superuser.
    as_server "$(pg bindir)/initdb" --pgdata="$DATA" --username="$(id -un)" --auth=trust --encoding=UTF8 --no-locale >/dev/null
}

# Copies the server to the same paths below another root, because PostgreSQL finds its files relative to its program. Links the
# headers.
copy_server() {
    local bindir root=$HOME_OF_ALL/copy-$PG_MAJOR${1:+-$1} directory
    bindir=$(pg bindir)
    [[ $bindir != "$HOME_OF_ALL"/* || -n ${1:-} ]] || { echo "$PG_CONFIG" && return; }
    for directory in "$bindir" "$(pg pkglibdir)" "$(pg sharedir)"; do
        mkdir -p "$root$directory"
        cp --recursive --preserve=mode,timestamps --update "$directory/." "$root$directory"
    done
    mkdir -p "$root$(dirname "$(pg includedir-server)")"
    ln -sfn "$(pg includedir-server)" "$root$(pg includedir-server)"
    echo "$root$bindir/pg_config"
}

ctl() { as_server "$(pg bindir)/pg_ctl" --silent --wait --pgdata="$DATA" "$@"; }

# The second line of postmaster.pid names the data directory. In a copy of a clone, it still names that of the original.
is_running() { [ "$(sed -n 2p "$DATA/postmaster.pid" 2>/dev/null)" = "$DATA" ] && ctl status >/dev/null; }
has_old_library() { [ "$(pg pkglibdir)/scru.so" -nt "$DATA/postmaster.pid" ]; }

start() {
    make_home
    as_server mkdir -p "$DIRECTORY"
    [ -f "$DATA/PG_VERSION" ] || make_cluster
    if is_running && has_old_library; then stop; fi
    if is_running; then echo "The private server is running already, in $DIRECTORY" >&2 && return; fi
    local options="-c listen_addresses='' -c port=5432 -c unix_socket_directories='$DIRECTORY'" setting
    for setting in "$@"; do options+=" -c $setting"; done
    ctl start ${SERVER_PROGRAM:+-p "$SERVER_PROGRAM"} --log="$DIRECTORY/log" --options="$options" >&2 || {
        tail -n 20 "$DIRECTORY/log" >&2
        die "The server did not start. Its log is $DIRECTORY/log"
    }
    echo "Started the private server in $DIRECTORY" >&2
}

stop() {
    if is_running; then
        ctl stop --mode=fast
        echo "Stopped the private server in $DIRECTORY" >&2
    else
        echo "The private server is not running." >&2
    fi
}

restart() { ctl restart --mode=fast --log="$DIRECTORY/log" >&2; }

# In single-user mode, each line is a statement.
single() { as_server "${@:2}" "$(pg bindir)/postgres" --single -D "$DATA" "$1"; }

# Also removes what was created elsewhere, for example while the server's user had no access to target/.
remove() {
    for DIRECTORY in "$HERE"/*/ "$ELSEWHERE"/*/; do
        DATA=${DIRECTORY}data
        if is_running; then stop; fi
    done
    rm -rf "$HERE" "$ELSEWHERE"
}

HOME_OF_ALL=$(find_home)
DIRECTORY=$HOME_OF_ALL/$PG_MAJOR-${2:-}
DATA=$DIRECTORY/data
case ${1:-} in
start)
    start "${@:3}"
    echo "$DIRECTORY"
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
*) die 'Missing or unknown command. See the head of tools/server.sh.' ;;
esac
