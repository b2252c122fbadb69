#!/usr/bin/env bash
# Fails if the committed code of proto/ differs from the code that its .proto files generate.
set -euo pipefail
cd "$(dirname "$0")/.."
fresh=$(mktemp -d)
trap 'rm -rf "$fresh"' EXIT
protos=(proto/*/*.proto)
for file in "${protos[@]}"; do
  mkdir -p "$fresh/$(dirname "$file")"
  cp "$file" "$fresh/$file"
  if ! grep -qw "$file" proto/generate.go; then
    echo "$file is not in proto/generate.go" >&2
    exit 1
  fi
done
go run ./internal/protogen "$fresh" "${protos[@]}"
# Compare in both directions: a committed file that is no longer generated is stale, too.
stale=0
while read -r file; do
  if ! cmp -s "$file" "$fresh/$file"; then
    echo "$file is stale: run 'make proto' and commit what it changes" >&2
    stale=1
  fi
done < <({ ls proto/*/*.pb.go; (cd "$fresh" && ls proto/*/*.pb.go); } | sort -u)
exit "$stale"
