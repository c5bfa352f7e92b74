#!/usr/bin/env bash
# Renders sql/install, the examples of the reference pages, and these pages from sql/*.in.
source "$(dirname "$0")/env.sh"
cargo sqlgen
