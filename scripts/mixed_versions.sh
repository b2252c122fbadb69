#!/usr/bin/env bash
# Runs the harness on a cluster of this build and of the previous one, whose commit is in
# jepsen/PREVIOUS: nodes change between the two, both ways. Without that commit in the
# repository, as in a shallow clone, it says so and succeeds.
set -euo pipefail
cd "$(dirname "$0")/.."
commit=$(cat jepsen/PREVIOUS)
if ! git cat-file -e "$commit^{commit}" 2>/dev/null; then
  echo "NOT CHECKED: commit $commit is not in this clone"
  exit 0
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/source"
git archive "$commit" | tar -x -C "$work/source"
(cd "$work/source" && go build -o "$work/dormoused" ./cmd/node)
bin/dormjepsen run --workload append,claim,conversations,export,instance,register,session,timer,turn --nemesis mixed --time "${TIME:-25s}" --seed "${SEED:-1}" \
  --previous "$work/dormoused" --dir "$work/run"
