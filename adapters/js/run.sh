#!/usr/bin/env bash
# Installs and tests the adapters for JavaScript that the arguments name, all of them without any.
# It runs below withcluster.
set -euo pipefail
cd "$(dirname "$0")"

if [ $# -eq 0 ]; then
  set -- */package.json
fi
for adapter in "$@"; do
  adapter=${adapter%/package.json}
  printf '== %s\n' "$adapter"
  npm --prefix "$adapter" ci --silent --ignore-scripts
  npm --prefix "$adapter" test --silent
done
