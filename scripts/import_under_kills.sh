#!/usr/bin/env bash
# Imports conversations while nodes of three are killed. Then compares them with
# the file, byte for byte, through each node.
#
#   kill -9 the leader · restart it · kill -9 another · the import ends ·
#   restart that one · import --verify through each · the nodes have one chain
#
#   scripts/import_under_kills.sh [TRANSCRIPTS]
#   (COPIES, RATE, PORT_BASE and BIN choose others; KEEP=1 keeps the data)
#
# All processes that it starts end with it.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${PORT_BASE:-17600}
rate=${RATE:-800}
. scripts/imports.sh
copies=${COPIES:-$((25000 / messages + 1))}

three_nodes
say "importing $transcripts $copies times at $rate messages/s at most"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --copies "$copies" --rate "$rate" -o json \
  >"$work/summary.json" 2>"$work/import.log" </dev/null &
importer=$!
sleep 4

kill_leader
sleep 2
restart_first
sleep 1
kill_second
await_import
restart_second
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --copies "$copies" --verify || fail "what is stored is not what is in the file"
await_agreement
say "all three nodes stand at $(applied_of 1)"

for n in 1 2 3; do
  if ! running "${pids[n]}"; then fail "n$n has ended; see its log"; fi
done
verdict=0
say "PASSED: $((copies * messages)) messages, none lost, repeated, reordered or changed"
