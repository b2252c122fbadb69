#!/usr/bin/env bash
# Starts three nodes and the agent, kills the agent three times and the leader once, all with SIGKILL,
# and checks that each step was done once and that no ticket is lost.
set -euo pipefail
cd "$(dirname "$0")"
if [ -z "${DORMOUSE_CONTROL:-}" ]; then
  cd ../..
  exec go run ./internal/withcluster -- examples/support-agent/run.sh
fi
. ../lib.sh
agent=(node dist/main.js)

note "three nodes run; the agent starts"
start "${agent[@]}" work --slow t1.2
await 't1.2 is done, but its answer is slow'
murder
note "killed the agent with SIGKILL: step t1.2 is in the ledger, and its answer is not in the checkpoint"

start "${agent[@]}" work --slow t2.2 # so that it does not end before it is killed
await 't1.2 read_policy: is in the ledger already'
await 't1: waits for a review'
leader=$(kill_leader)
note "killed the leader, $leader, with SIGKILL: the agent goes on with the next one"
await 't2.1 look_up_order'
sleep "0.0$((RANDOM % 9))"
murder
note "killed the agent again, at a random moment after step t2.1"

start "${agent[@]}" work
finish
await 't3: waits for a review'

note "all tickets wait for a review, and no process runs; the reviewer comes"
start "${agent[@]}" review --slow t1.3
await 't1.3 is done, but its answer is slow'
murder
note "killed the reviewer's process: the refund t1.3 is paid, and its answer is not in the checkpoint"

start "${agent[@]}" review
finish

note "the tickets are closed; the check"
"${agent[@]}" check
