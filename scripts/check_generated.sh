#!/usr/bin/env bash
# Fails when the committed code of proto/ is not what its .proto files make.
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
# Both ways: what is committed and no longer made is stale, too.
stale=0
while read -r file; do
  if ! cmp -s "$file" "$fresh/$file"; then
    echo "$file is stale: run 'make proto' and commit what it changes" >&2
    stale=1
  fi
done < <({ ls proto/*/*.pb.go; (cd "$fresh" && ls proto/*/*.pb.go); } | sort -u)
exit "$stale"
