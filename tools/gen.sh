#!/usr/bin/env bash
# Renders sql/install from sql/*.in.
source "$(dirname "$0")/env.sh"
cargo sqlgen
