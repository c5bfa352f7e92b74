#!/usr/bin/env bash
# From a fresh clone to a million IDs in a server of one's own.
source "$(dirname "$0")/env.sh"

psql() { "$(pg bindir)/psql" --no-psqlrc --quiet --set=ON_ERROR_STOP=1 "$@"; }

# The SQL that CREATE EXTENSION runs, but for what means nothing: comments, which name lines of source files, and the order.
extension_sql() { sed '/^ *\(--\|\/\*\|\*\/\)/d' "$(pg sharedir)/extension/scru--$(extension_version).sql"; }
extension_version() { sed -n "s/^default_version = '\(.*\)'/\1/p" "$(pg sharedir)/extension/scru.control"; }

# The database bears the sum of that SQL as its comment; one without a comment was not finished.
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
        say 'The extension has other SQL now: the database scru is kept as scru_previous, and there is a new one'
        psql --dbname=postgres --command='SET client_min_messages = warning' \
            --command='DROP DATABASE IF EXISTS scru_previous WITH (FORCE)'
        psql --dbname=postgres --command='ALTER DATABASE scru RENAME TO scru_previous'
    fi
    say 'CREATE DATABASE scru; CREATE EXTENSION scru'
    psql --dbname=postgres --command='CREATE DATABASE scru'
    psql --command='CREATE EXTENSION scru'
    psql --command="COMMENT ON DATABASE scru IS 'extension $sum'"
}

tools/setup.sh
use_private_copy
tools/install.sh
say 'Starting a private server: its own data, a socket, no port'
PGHOST=$(tools/server.sh start tour)
export PGHOST PGPORT=5432 PGDATABASE=scru PGUSER
PGUSER=$(id -un)
make_database
psql --set=folder="$PGHOST" --file=tools/tour.sql

say "The server runs until \`make stop\`. To connect: $(pg bindir)/psql -h $PGHOST scru"
[ ! -t 0 ] || [ ! -t 1 ] || exec "$(pg bindir)/psql"
