#!/usr/bin/env bash
# Lists the packages for the race detector: those whose code or tests start goroutines, or use
# what does. It would find nothing in the others, and each needs a build of its own.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/goroutines.sh
. scripts/goroutines.sh
go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}} {{.Dir}}{{end}}' ./... | while read -r package dir; do
  if [ -n "$dir" ] && grep -qE "$goroutines" "$dir"/*.go; then echo "$package"; fi
done
