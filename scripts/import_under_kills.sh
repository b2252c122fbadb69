#!/usr/bin/env bash
# The main job: an import that goes on while nodes of three are killed, and is
# then compared with the file, byte for byte, through each node.
#
#   kill -9 the leader · restart it · kill -9 another · the import ends ·
#   restart that one · import --verify through each · the nodes agree by chain
#
#   scripts/import_under_kills.sh [TRANSCRIPTS]
#   (COPIES, RATE, PORT_BASE and BIN choose others; KEEP=1 keeps the data)
#
# Nothing that it starts outlives it.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=${BIN:-bin}
base=${PORT_BASE:-17600}
rate=${RATE:-800}
transcripts=${1:-../shared/data/transcripts.jsonl}
if [ $# = 0 ] && [ ! -f "$transcripts" ]; then
  transcripts=importer/testdata/transcripts.jsonl # a sample of them
fi
work=$(mktemp -d)
data=$work/nodes
. scripts/nodes.sh

[ -f "$transcripts" ] || { echo "there is no $transcripts" >&2; exit 2; }
messages=$(grep -o '"role":' "$transcripts" | wc -l)
copies=${COPIES:-$((25000 / messages + 1))}
importer=""
verdict=1

say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }
fail() {
  say "FAILED: $*"
  exit 1
}
finish() {
  trap - EXIT INT TERM
  if running "$importer"; then kill -KILL "$importer" 2>/dev/null || true; fi
  [ -z "$importer" ] || wait "$importer" 2>/dev/null || true
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
still_importing() { running "$importer" || fail "the import had ended $1: raise COPIES or lower RATE"; }

# kill_node N: kill -9 while the import runs.
kill_node() {
  still_importing "before n$1 was killed"
  kill -KILL "${pids[$1]}"
  still_importing "when n$1 was killed"
  wait "${pids[$1]}" 2>/dev/null || true
  pids[$1]=""
}

other_leads() { leader=$(leader_of "$1") && [ -n "$leader" ] && [ "$leader" != "$2" ]; }
caught_up() {
  local at
  at=$(applied_of "$1")
  at=${at%% *}
  [ -n "$at" ] && [ "$at" -ge "$2" ]
}
index_of() { local at; at=$(applied_of "$1"); echo "${at%% *}"; }
agree() {
  local one
  one=$(applied_of 1)
  [ -n "$one" ] && [ "$one" = "$(applied_of 2)" ] && [ "$one" = "$(applied_of 3)" ]
}

for tool in dormoused dormctl; do
  [ -x "$bin/$tool" ] || fail "there is no $bin/$tool: run make build"
done
say "starting three nodes (ports $base to $((base + 23)), data in $work)"
for n in 1 2 3; do start_node $n; done
within 60 "three nodes vote" all_vote || { tail -n 5 "$data"/n?.log; fail "no cluster of three"; }

say "importing $transcripts $copies times at $rate messages/s at most"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --copies "$copies" --rate "$rate" -o json \
  >"$work/summary.json" 2>"$work/import.log" </dev/null &
importer=$!
sleep 4

first=$(leader_of 1)
[ -n "$first" ] || first=$(leader_of 2)
[ -n "$first" ] || fail "no leader is known"
survivor=$((first % 3 + 1))
kill_node "$first"
say "killed the leader n$first while the import ran"
leader=""
within 30 "another node leads" other_leads "$survivor" "$first" || fail "no new leader"
say "n$leader leads"
sleep 2
still_importing "before n$first came back"
start_node "$first"
say "restarted n$first"
within 60 "n$first has caught up" caught_up "$first" "$(index_of "$survivor")" || fail "n$first does not catch up"
sleep 1

second=$(leader_of "$first")
if [ -z "$second" ] || [ "$second" = "$first" ]; then second=$survivor; fi
kill_node "$second"
say "killed n$second while the import ran"
sleep 1
still_importing "a second after n$second was killed"

say "waiting for the import"
within 600 "the import ends" bash -c "! kill -0 $importer 2>/dev/null" || fail "the import does not end"
if wait "$importer"; then code=0; else code=$?; fi
importer=""
cat "$work/summary.json"
[ "$code" = 0 ] || { cat "$work/import.log"; fail "the import ended with code $code"; }

start_node "$second"
say "restarted n$second"
within 120 "the three nodes agree" agree || { for n in 1 2 3; do applied_of $n; done; fail "the nodes do not agree"; }
say "the three nodes agree; verifying through each"
"$bin/dormctl" --endpoints "$(endpoints)" import "$transcripts" --copies "$copies" --verify || fail "what is stored is not what is in the file"
within 30 "the three nodes agree" agree || fail "the nodes do not agree"
say "all three nodes stand at $(applied_of 1)"

for n in 1 2 3; do
  if ! running "${pids[n]}"; then fail "n$n has ended; see its log"; fi
done
verdict=0
say "PASSED: $((copies * messages)) messages, none lost, repeated, reordered or changed"
