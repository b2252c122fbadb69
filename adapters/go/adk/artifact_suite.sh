#!/usr/bin/env bash
# Runs ADK's suite of artifact services on the nodes of DORMOUSE_ENDPOINTS. The suite is
# internal to ADK's module: it runs in a copy of the module, to which a test is added.
set -euo pipefail
cd "$(dirname "$0")"
module=google.golang.org/adk/v2
work=$(mktemp -d)
trap 'chmod -R u+w "$work" && rm -rf "$work"' EXIT
go mod download "$module"
cp -r "$(go list -m -f '{{.Dir}}' "$module")" "$work/adk"
chmod -R u+w "$work/adk"
cp testdata/artifact_suite_test.go.txt "$work/adk/internal/artifact/tests/dormouse_test.go"
cp go.mod go.sum "$work"
go mod edit -replace "$module=$work/adk" "$work/go.mod"
go test -modfile "$work/go.mod" -count=1 "$@" "$module/internal/artifact/tests"
