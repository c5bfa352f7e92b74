#!/usr/bin/env bash
# Renders sql/install, the reference pages, and the regression test of their examples from sql/*.in.
source "$(dirname "$0")/lib/env.sh"
cargo sqlgen
