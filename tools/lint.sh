#!/usr/bin/env bash
# lint.sh CHECK…: checks files other than Rust. CHECK: python, shell, scripts (SQL), documents, spelling, workflows.
# lint.sh fix: formats Python, shell scripts and Markdown, and applies the fixes of ruff.
source "$(dirname "$0")/lib/env.sh"
PINS=tools/lib/lint.txt
LINTERS=$TOOLS/lint-$(cksum <"$PINS" | cut -d ' ' -f 1)
SCRIPTS=(tools/*.sh tools/lib/*.sh .ci/run)

# Installs the linters into a virtual environment that all clones share. Each set of pinned versions has its own.
install_linters() {
    tools/setup.sh lint
    [ ! -e "$LINTERS/installed" ] || return 0
    say "Installing linters into $LINTERS (once)"
    rm -rf "$LINTERS"
    /usr/bin/python3 -m venv "$LINTERS"
    "$LINTERS/bin/pip" install --quiet --disable-pip-version-check --requirement "$PINS"
    touch "$LINTERS/installed"
}

python() { ruff check && ruff format --check; }
# Every script first sources tools/lib/env.sh, which makes a failed `cd` end the script.
shell() { side_by_side shellcheck --external-sources --source-path=SCRIPTDIR --exclude=SC2164 && shfmt --diff "${SCRIPTS[@]}"; }
side_by_side() { printf '%s\n' "${SCRIPTS[@]}" | xargs --max-procs="$(nproc)" --max-args=3 "$@"; }
scripts() { /usr/bin/python3 tools/lib/scripts.py; }
documents() { /usr/bin/python3 tools/lib/documents.py && /usr/bin/python3 tools/lib/pictures.py --check && /usr/bin/python3 tools/lib/release.py check && md-dead-link-check --config tools/lib/lint.toml; }
spelling() { codespell --toml tools/lib/lint.toml; }
workflows() {
    check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yml && zizmor --offline --quiet .github && actionlint
}

fix() {
    ruff check --fix
    ruff format
    shfmt --write "${SCRIPTS[@]}"
    /usr/bin/python3 tools/lib/documents.py --fix
}

install_linters
PATH=$LINTERS/bin:$PATH
for check in "$@"; do "$check"; done
