#!/usr/bin/env bash
# Imports conversations as sessions: eight worker processes compete for the
# turns while nodes of three are killed. Then checks through each node that every
# conversation is complete, without duplicates.
#
#   kill -9 the leader · stop half of the workers past their leases and wake
#   them · restart the node · kill -9 another · the import ends · restart that
#   one · import --sessions --verify through each · a replay reads like its
#   conversation
#
#   scripts/import_sessions_under_kills.sh [TRANSCRIPTS]
#   (COPIES, RATE, WORKERS, PORT_BASE and BIN choose others; KEEP=1 keeps the data)
#
# All processes that it starts end with it.
set -euo pipefail
cd "$(dirname "$0")/.."
base=${PORT_BASE:-17700}
rate=${RATE:-150}
workers=${WORKERS:-8}
. scripts/imports.sh
copies=${COPIES:-$((4500 / messages + 1))}
stopped=""
finish_hook() { [ -z "$stopped" ] || kill -CONT $stopped 2>/dev/null || true; }

three_nodes
say "$workers workers import $transcripts $copies times, at $rate messages/s at most"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --sessions --workers "$workers" --copies "$copies" --rate "$rate" -o json \
  >"$work/summary.json" 2>"$work/import.log" </dev/null &
importer=$!
sleep 5

kill_leader
stopped=$(pgrep -P "$importer" | head -n $(((workers + 1) / 2)) || true)
[ -n "$stopped" ] || fail "there is no worker to stop"
kill -STOP $stopped
say "stopped half of the workers"
restart_first
sleep 8 # longer than the leases of the workers
kill -CONT $stopped
stopped=""
say "woke them"
kill_second
await_import
restart_second
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --sessions --copies "$copies" --verify || fail "what is stored is not what is in the file"

id=$(head -n 1 "$transcripts" | sed -n 's/^{"id": *"\([^"]*\)".*/\1/p')
said=$("$bin/dormctl" --endpoints "$(endpoints)" sessions replay "$id" -o json | grep -o '"what": *"entry"' | wc -l)
spoken=$(head -n 1 "$transcripts" | grep -o '"role":' | wc -l)
[ "$said" = "$spoken" ] || fail "the replay of $id has $said entries, the conversation $spoken messages"
say "the replay of $id reads like its $spoken messages"
verdict=0
say "PASSED: $((copies * messages)) messages in turns, none lost, repeated, reordered or changed"
