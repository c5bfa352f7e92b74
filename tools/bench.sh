#!/usr/bin/env bash
# bench.sh run [--mode=full|short|long] [--only SUITE…]: installs the extension into a private copy of the server, and runs
# the benchmark.
# bench.sh report: renders docs/bench, and the README's tables and their picture, from the results.
source "$(dirname "$0")/lib/env.sh"

# If this machine does not have the server, runs the benchmark in a Debian that has it.
if [ "${1:-}" = run ] && [ ! -x "$(command -v "$PG_CONFIG")" ] && [ "${PG_MAJOR:-0}" -gt "${MAJORS[0]}" ]; then
    exec tools/lib/servers.sh run "$PG_MAJOR" tools/bench.sh "$@"
fi
if [ "${1:-}" = run ]; then
    set_up bench
    use_private_copy
    tools/install.sh
else
    set_up report
fi
/usr/bin/python3 -m bench "$@"
[ "${1:-}" = run ] || /usr/bin/python3 tools/lib/pictures.py
