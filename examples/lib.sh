# What the examples share: a program that runs in the background, is watched by its output, and is
# killed. Source it; it makes a directory, $dir, which goes with the script.
# shellcheck shell=bash
dir=$(mktemp -d)
log=$dir/log
program=
: >"$log"

# shellcheck disable=SC2317 # the trap calls it
end() {
  [ -z "$program" ] || kill -KILL "$program" 2>/dev/null || true
  rm -rf "$dir"
}
trap end EXIT

note() { printf '\n== %s\n' "$*"; }

# start COMMAND… starts the program, with its output on the terminal and in the log.
start() {
  "$@" > >(tee -a "$log") 2>&1 &
  program=$!
}

# await TEXT waits until the log has a text, and fails if the program ends before.
await() {
  until grep -q -- "$1" "$log"; do
    if ! kill -0 "$program" 2>/dev/null && sleep 0.2 && ! grep -q -- "$1" "$log"; then
      echo "the program ended before it printed: $1" >&2
      exit 1
    fi
    sleep 0.05
  done
}

# murder kills the program, which has no time to tidy up.
murder() {
  kill -KILL "$program"
  wait "$program" 2>/dev/null || true
  program=
}

# finish waits for the program, and returns its status.
finish() {
  local status=0
  wait "$program" || status=$?
  program=
  sleep 0.2 # tee prints the last lines
  return "$status"
}

# kill_leader kills the leader of the cluster, which starts again two seconds later, and prints its name.
kill_leader() { curl -sf -X POST "$DORMOUSE_CONTROL/leader/kill"; }
