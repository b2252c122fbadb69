#!/usr/bin/env bash
# Looks for known vulnerabilities in the code that the programs call. Without the database
# (vuln.go.dev) it says so and succeeds: it cannot know.
set -euo pipefail
cd "$(dirname "$0")/.."
said=$(mktemp)
trap 'rm -f "$said"' EXIT
status=0
go tool -modfile=tools/go.mod govulncheck ./cmd/node ./cmd/dormctl >"$said" 2>&1 || status=$?
if [ "$status" = 0 ]; then
  echo "no known vulnerability is reached"
elif [ "$status" != 3 ] && grep -qE "fetching vulnerabilities|no such host|connection refused|dial tcp|Forbidden|proxyconnect|EOF|timeout" "$said"; then
  echo "NOT CHECKED: the database of vulnerabilities is not reachable: $(tail -n 1 "$said")"
else
  cat "$said"
  exit 1
fi
