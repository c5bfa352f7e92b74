#!/usr/bin/env bash
# Builds the extension, starts a private server, and runs the tour of tools/lib/tour.sql in it. Needs only a fresh clone.
source "$(dirname "$0")/lib/env.sh"

psql() { "$(pg bindir)/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"; }

# Prints the SQL that CREATE EXTENSION runs, without comments, so that a change of a comment does not cause a new database.
extension_sql() { sed '/^ *\(--\|\/\*\|\*\/\)/d' "$(pg sharedir)/extension/scru--$(extension_version).sql"; }
extension_version() { sed -n "s/^default_version = '\(.*\)'/\1/p" "$(pg sharedir)/extension/scru.control"; }

# Prints the comment on the database, which contains a checksum of that SQL. Prints `unfinished` if the database has no comment:
# its creation was interrupted. Prints nothing if there is no database.
made_with() {
    psql --tuples-only --no-align --dbname=postgres --command="
        SELECT coalesce(shobj_description(oid, 'pg_database'), 'unfinished') FROM pg_database WHERE datname = 'scru'"
}

make_database() {
    local sum made
    sum=$(extension_sql | sort | cksum | cut -d ' ' -f 1)
    made=$(made_with)
    [ "$made" != "extension $sum" ] || return 0
    if [ -n "$made" ]; then
        say 'The SQL of the extension has changed: renaming the database scru to scru_previous and creating a new one'
        psql --dbname=postgres --command='SET client_min_messages = warning' \
            --command='DROP DATABASE IF EXISTS scru_previous WITH (FORCE)'
        psql --dbname=postgres --command='ALTER DATABASE scru RENAME TO scru_previous'
    fi
    say 'CREATE DATABASE scru; CREATE EXTENSION scru'
    psql --dbname=postgres --command='CREATE DATABASE scru'
    psql --command='CREATE EXTENSION scru'
    psql --command="COMMENT ON DATABASE scru IS 'extension $sum'"
}

# shellcheck disable=SC2119 # its argument is optional
set_up
use_private_copy
tools/install.sh
say 'Starting a private server with its own data, a socket and no port'
PGHOST=$(tools/server.sh start tour)
export PGHOST PGPORT=5432 PGDATABASE=scru PGUSER
PGUSER=$(id -un)
make_database
psql --set=directory="$PGHOST" --file=tools/lib/tour.sql

say "The server runs until \`make stop\`. To connect: $(pg bindir)/psql -h $PGHOST scru"
[ ! -t 0 ] || [ ! -t 1 ] || exec "$(pg bindir)/psql"
