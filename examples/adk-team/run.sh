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
export DORMOUSE_ENDPOINTS=$DORMOUSE_GRPC # the client's variable
dir=$(mktemp -d)
log=$dir/log
team=
# shellcheck disable=SC2317 # the trap calls it
end() {
  [ -z "$team" ] || kill -KILL "$team" 2>/dev/null || true
  rm -rf "$dir"
}
trap end EXIT

note() { printf '\n== %s\n' "$*"; }

# start starts the team in the background, with its output on the terminal and in the log.
start() {
  "$dir/adk-team" "$@" > >(tee -a "$log") 2>&1 &
  team=$!
}

# await waits until the log has a text, and fails if the team ends before.
await() {
  until grep -q "$1" "$log" 2>/dev/null; do
    if ! kill -0 "$team" 2>/dev/null; then
      grep -q "$1" "$log" && return
      echo "the team ended before: $1" >&2
      exit 1
    fi
    sleep 0.05
  done
}

# murder kills the team, which has no time to tidy up.
murder() {
  kill -KILL "$team"
  wait "$team" 2>/dev/null || true
}

go build -o "$dir/adk-team" .

note "three nodes run; the team starts"
start -slow 5
await 'step 5 is done, but its answer is slow'
murder
note "killed the team with SIGKILL: step 5 is in the ledger, and its answer is not in the transcript"

start
await 'step  7:'
leader=$(curl -sf -X POST "$DORMOUSE_CONTROL/leader/kill")
note "killed the leader, $leader, with SIGKILL: the team waits for the next one"
await 'step  9:'
sleep "0.$((RANDOM % 7))"
murder
note "killed the team again, at a random moment after step 9"

start
wait "$team"
team=
sleep 0.2 # tee prints the last lines

note "the dinner is ready; the check"
"$dir/adk-team" -check
