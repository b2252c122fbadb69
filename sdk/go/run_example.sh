#!/usr/bin/env bash
# Runs the example of the Go library on the cluster of internal/withcluster, and fails if
# it prints something else than the README shows.
set -euo pipefail
cd "$(dirname "$0")/example"
go vet .
go mod tidy -diff
printed=$(go run .)
printf '%s\n' "$printed"
wanted=$(sed -n '/^```text$/,/^```$/p' ../README.md | sed '1d;$d')
[ "$printed" = "$wanted" ] || { echo "README.md shows another output" >&2; exit 1; }
