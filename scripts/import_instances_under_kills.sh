#!/usr/bin/env bash
# Imports conversations as live instances, which take signals and hibernate
# between turns, while a fourth node joins three and one of them is killed. Then
# checks on each node that every conversation is complete, without duplicates,
# and that the nodes share the partitions evenly.
#
#   a fourth joins · kill -9 the leader · restart it · the import ends ·
#   import --instances --verify through each · the shares of the nodes are even
#
#   scripts/import_instances_under_kills.sh [TRANSCRIPTS]
#   (COPIES, RATE, IDLE, PORT_BASE and BIN choose others; KEEP=1 keeps the data)
#
# All processes that it starts end with it.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${PORT_BASE:-17800}
rate=${RATE:-150}
idle=${IDLE:-500ms}
. scripts/imports.sh
copies=${COPIES:-$((4500 / messages + 1))}

four_vote() { [ "$(voters_of 1)" = 4 ]; }
all_four() { echo "$(endpoints),$(grpc_of 4)"; }

# even checks that each of the four nodes owns a quarter of the 4,096 partitions, ±10 %.
even() {
  shares=$("$bin/dormctl" --endpoints "$(endpoints)" placement ls -o json 2>/dev/null | tr -d ' \n' |
    grep -o '"node":"n[1-4]"[^}]*"owned":[0-9]*' | sed 's/.*:"\(n.\)".*:/\1 /') || return 1
  [ "$(echo "$shares" | awk '$2 >= 922 && $2 <= 1126' | wc -l)" = 4 ]
}

three_nodes
say "importing $transcripts $copies times into live instances, at $rate messages/s at most"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --instances --idle "$idle" --parallel 128 --copies "$copies" --rate "$rate" -o json \
  >"$work/summary.json" 2>"$work/import.log" </dev/null &
importer=$!
sleep 4

start_node 4
say "n4 joins"
within 60 "four nodes vote" four_vote || fail "n4 does not join"
kill_leader
sleep 3
restart_first
still_importing "when n$first was back"
await_import
await_agreement
say "verifying through each of the four"
"$bin/dormctl" --endpoints "$(all_four)" import "$transcripts" --instances --copies "$copies" --verify || fail "what is stored is not what is in the file"

within 60 "the nodes share evenly" even || fail "the shares are" $shares
say "the nodes own" $shares "of 4096 partitions"
verdict=0
say "PASSED: $((copies * messages)) messages by signals, none lost, repeated, reordered or changed, and each follow-up came once"
