#!/usr/bin/env bash
# Starts three nodes and the team, kills the team twice and the leader once, all with SIGKILL, and
# checks that each step was done once and that the transcript is whole.
set -euo pipefail
cd "$(dirname "$0")"
if [ -z "${DORMOUSE_CONTROL:-}" ]; then
  cd ../..
  go run ./internal/sdkgo/assemble
  exec go run ./internal/withcluster -- examples/adk-team/run.sh
fi
. ../lib.sh
go build -o "$dir/adk-team" .

note "three nodes run; the team starts"
start "$dir/adk-team" -slow 5
await 'step 5 is done, but its answer is slow'
murder
note "killed the team with SIGKILL: step 5 is in the ledger, and its answer is not in the transcript"

start "$dir/adk-team"
await 'step  7:'
leader=$(kill_leader)
note "killed the leader, $leader, with SIGKILL: the team waits for the next one"
await 'step  9:'
sleep "0.$((RANDOM % 7))"
murder
note "killed the team again, at a random moment after step 9"

start "$dir/adk-team"
finish

note "the dinner is ready; the check"
"$dir/adk-team" -check
