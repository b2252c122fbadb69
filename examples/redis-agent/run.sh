#!/usr/bin/env bash
# Starts three nodes and the courier, stops one process and kills another and the leader, and checks that
# each parcel was delivered once.
set -euo pipefail
cd "$(dirname "$0")"
if ! command -v elixirc >/dev/null; then
  echo "elixirc is missing: install elixir 1.14 or later" >&2
  exit 1
fi
if [ -z "${DORMOUSE_CONTROL:-}" ]; then
  cd ../..
  exec go run ./internal/withcluster -- examples/redis-agent/run.sh
fi
. ../lib.sh
elixirc --warnings-as-errors -o "$dir" ./*.ex
courier=(elixir -pa "$dir" main.exs)

note "three nodes run; the courier starts"
start "${courier[@]}"
await 'parcel 3:'
paused=$program
trap 'kill -KILL "$paused" 2>/dev/null || true; end' EXIT
kill -STOP "$paused"
note "stopped the courier with SIGSTOP: it is not dead, only slow; another takes over"

start "${courier[@]}" --slow 7
await 'parcel 5:'
kill -CONT "$paused"
await 'is refused'
wait "$paused" || [ $? = 3 ] # the status of a courier that was refused
note "the first courier runs again: the store refused its append, since the thread has changed"

await 'is slow to write its checkpoint'
murder
note "killed the second courier with SIGKILL: parcel 7 is in the thread, and not in the checkpoint"

# The last node of the list led when the cluster started: the third courier begins with it.
DORMOUSE_REDIS=${DORMOUSE_REDIS##*,},$DORMOUSE_REDIS start "${courier[@]}"
await 'parcel 9:'
leader=$(kill_leader)
note "killed the leader, $leader, with SIGKILL: if the courier was connected to it, it goes to the next node"
finish

note "all parcels are delivered; the check"
"${courier[@]}" --check
