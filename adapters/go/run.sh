#!/usr/bin/env bash
# Vets and tests the adapters for Go on the cluster of internal/withcluster: each has the
# suite of its framework. Arguments name some of them; none means all.
set -euo pipefail
cd "$(dirname "$0")"
[ $# -gt 0 ] || set -- adk dapr eino valkeyrie
for adapter; do
  printf '=== %s\n' "$adapter"
  (
    cd "$adapter"
    go mod tidy -diff
    go vet ./...
    go test -count=1 ./...
    if [ "$adapter" = adk ]; then ./artifact_suite.sh; fi
  )
done
