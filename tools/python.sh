#!/usr/bin/env bash
# Builds the package for Python of the last commit: target/dist/scru_postgres-VERSION.tar.gz, and a wheel. The links of its page are
# absolute.
source "$(dirname "$0")/lib/env.sh"

work=${CARGO_TARGET_DIR:-$ROOT/target}/python
rm -rf "$work/package"
mkdir -p "$work/package"
cp LICENSE "$work/package"
git archive HEAD:clients/python | tar --extract --directory="$work/package"
/usr/bin/python3 tools/lib/release.py readme >"$work/package/README.md"
[ -e "$work/bin/twine" ] || /usr/bin/python3 -m venv "$work"
"$work/bin/pip" install --quiet --disable-pip-version-check build==1.3.0 twine==7.0.0
"$work/bin/python" -m build --outdir "${CARGO_TARGET_DIR:-$ROOT/target}/dist" "$work/package"
"$work/bin/twine" check --strict "${CARGO_TARGET_DIR:-$ROOT/target}"/dist/scru_postgres-*
