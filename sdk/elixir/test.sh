#!/bin/sh
# Runs the tests of the client. internal/withcluster sets the environment.
set -eu
cd "$(dirname "$0")"
mix format --check-formatted
mix run --no-start scripts/generate.exs --check
mix test
