#!/usr/bin/env bash
# Generates sql/install, the reference pages, and the test of their examples from sql/*.in.
source "$(dirname "$0")/env.sh"
cargo sqlgen
