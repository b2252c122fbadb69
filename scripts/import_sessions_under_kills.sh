#!/usr/bin/env bash
# The main job of sessions: eight workers, each a process of its own, compete
# for the turns of conversations while nodes of three are killed; then every
# conversation is complete, once, and the same through each node.
#
#   kill -9 the leader · stop half of the workers past their leases and wake
#   them · restart the node · kill -9 another · the import ends · restart that
#   one · import --sessions --verify through each · a replay reads like its
#   conversation
#
#   scripts/import_sessions_under_kills.sh [TRANSCRIPTS]
#   (COPIES, RATE, WORKERS, PORT_BASE and BIN choose others; KEEP=1 keeps the data)
#
# Nothing that it starts outlives it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin}
base=${PORT_BASE:-17700}
rate=${RATE:-150}
workers=${WORKERS:-8}
transcripts=${1:-../shared/data/transcripts.jsonl}
if [ $# = 0 ] && [ ! -f "$transcripts" ]; then
  transcripts=importer/testdata/transcripts.jsonl # a sample of them
fi
work=$(mktemp -d)
data=$work/nodes
. scripts/nodes.sh

[ -f "$transcripts" ] || { echo "there is no $transcripts" >&2; exit 2; }
messages=$(grep -o '"role":' "$transcripts" | wc -l)
copies=${COPIES:-$((4500 / messages + 1))}
importer=""
stopped=""
verdict=1

say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }
fail() {
  say "FAILED: $*"
  exit 1
}
finish() {
  trap - EXIT INT TERM
  [ -z "$stopped" ] || kill -CONT $stopped 2>/dev/null || true
  if running "$importer"; then
    kill -INT "$importer" 2>/dev/null || true # which ends its workers
    wait "$importer" 2>/dev/null || true
  fi
  stop_nodes
  if [ $verdict = 0 ] && [ -z "${KEEP:-}" ]; then
    rm -rf "$work"
  else
    say "data and logs are in $work"
  fi
  exit $verdict
}
trap finish EXIT
trap 'exit 1' INT TERM

# still_importing WHEN: the whole proof rests on the import running at each kill.
still_importing() { running "$importer" || { cat "$work/import.log"; fail "the import had ended $1: raise COPIES or lower RATE"; }; }

# kill_node N: kill -9 while the import runs.
kill_node() {
  still_importing "before n$1 was killed"
  kill -KILL "${pids[$1]}"
  still_importing "when n$1 was killed"
  wait "${pids[$1]}" 2>/dev/null || true
  pids[$1]=""
}

other_leads() { leader=$(leader_of "$1") && [ -n "$leader" ] && [ "$leader" != "$2" ]; }
index_of() { local at; at=$(applied_of "$1"); echo "${at%% *}"; }
caught_up() { local at; at=$(index_of "$1"); [ -n "$at" ] && [ "$at" -ge "$2" ]; }
agree() {
  local one
  one=$(applied_of 1)
  [ -n "$one" ] && [ "$one" = "$(applied_of 2)" ] && [ "$one" = "$(applied_of 3)" ]
}
ended() { ! running "$importer"; }

for tool in dormoused dormctl; do
  [ -x "$bin/$tool" ] || fail "there is no $bin/$tool: run make build"
done
say "starting three nodes (ports $base to $((base + 23)), data in $work)"
for n in 1 2 3; do start_node $n; done
within 60 "three nodes vote" all_vote || { tail -n 5 "$data"/n?.log; fail "no cluster of three"; }

say "$workers workers import $transcripts $copies times, at $rate messages/s at most"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --sessions --workers "$workers" --copies "$copies" --rate "$rate" -o json \
  >"$work/summary.json" 2>"$work/import.log" </dev/null &
importer=$!
sleep 5

first=$(leader_of 1)
[ -n "$first" ] || first=$(leader_of 2)
[ -n "$first" ] || fail "no leader is known"
survivor=$((first % 3 + 1))
kill_node "$first"
say "killed the leader n$first while the workers ran"
leader=""
within 30 "another node leads" other_leads "$survivor" "$first" || fail "no new leader"
say "n$leader leads"

stopped=$(pgrep -P "$importer" | head -n $(((workers + 1) / 2)) || true)
[ -n "$stopped" ] || fail "there is no worker to stop"
kill -STOP $stopped
say "stopped half of the workers"
start_node "$first"
say "restarted n$first"
within 60 "n$first has caught up" caught_up "$first" "$(index_of "$survivor")" || fail "n$first does not catch up"
sleep 8 # longer than the leases that they may have had
kill -CONT $stopped
stopped=""
say "woke them"

second=$(leader_of "$first")
if [ -z "$second" ] || [ "$second" = "$first" ]; then second=$survivor; fi
kill_node "$second"
say "killed n$second while the workers ran"
sleep 1
still_importing "a second after n$second was killed"

say "waiting for the import"
within 600 "the import ends" ended || fail "the import does not end"
if wait "$importer"; then code=0; else code=$?; fi
importer=""
cat "$work/summary.json"
[ "$code" = 0 ] || { cat "$work/import.log"; fail "the import ended with code $code"; }

start_node "$second"
say "restarted n$second"
within 120 "the three nodes agree" agree || { for n in 1 2 3; do applied_of $n; done; fail "the nodes do not agree"; }
say "the three nodes agree; verifying through each"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --sessions --copies "$copies" --verify || fail "what is stored is not what is in the file"
id=$(head -n 1 "$transcripts" | sed -n 's/^{"id": *"\([^"]*\)".*/\1/p')
said=$("$bin/dormctl" --endpoints "$(endpoints)" sessions replay "$id" -o json | grep -o '"what": *"entry"' | wc -l)
spoken=$(head -n 1 "$transcripts" | grep -o '"role":' | wc -l)
[ "$said" = "$spoken" ] || fail "the replay of $id has $said entries, the conversation $spoken messages"
say "the replay of $id reads like its $spoken messages"
verdict=0
say "PASSED: $((copies * messages)) messages in turns, none lost, repeated, reordered or changed"
