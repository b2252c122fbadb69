# Functions for imports while nodes of three are killed. A script sets base (the
# first port) and sources this file, which sets bin, work, data, transcripts and
# messages. The script then sets copies, and importer to the import's pid while it
# runs. At the end, also after an error, finish_hook runs first if the script
# defines it. verdict=0 means success. KEEP=1 keeps the data.
bin=${BIN:-bin}
transcripts=${1:-importer/testdata/transcripts.jsonl}
[ -f "$transcripts" ] || { echo "there is no $transcripts" >&2; exit 2; }
messages=$(grep -o '"role":' "$transcripts" | wc -l)
work=$(mktemp -d)
data=$work/nodes
importer=""
verdict=1
. scripts/nodes.sh

say() { printf '%s  %s\n' "$(date -u +%H:%M:%S)" "$*"; }
fail() {
  say "FAILED: $*"
  exit 1
}
finish_hook() { :; }
finish() {
  trap - EXIT INT TERM
  finish_hook
  if running "$importer"; then kill -INT "$importer" 2>/dev/null || true; fi # this ends its workers too
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

# three_nodes starts a cluster.
three_nodes() {
  local tool n
  for tool in dormoused dormctl; do
    [ -x "$bin/$tool" ] || fail "there is no $bin/$tool: run make build"
  done
  say "starting three nodes (ports $base to $((base + 23)), data in $work)"
  for n in 1 2 3; do start_node $n; done
  within 60 "three nodes vote" all_vote || { tail -n 5 "$data"/n?.log; fail "no cluster of three"; }
}

# still_importing WHEN: fails if the import has ended; each kill must happen while it runs.
still_importing() {
  running "$importer" || { cat "$work/import.log"; fail "the import had ended $1: raise COPIES or lower RATE"; }
}

# kill_node N: kill -9 while the import runs.
kill_node() {
  still_importing "before n$1 was killed"
  kill -KILL "${pids[$1]}"
  still_importing "when n$1 was killed"
  wait "${pids[$1]}" 2>/dev/null || true
  pids[$1]=""
}

# kill_leader kills the leader. It sets first (the killed node), survivor (another
# node) and leader (the next leader).
kill_leader() {
  first=$(leader_of 1)
  [ -n "$first" ] || first=$(leader_of 2)
  [ -n "$first" ] || fail "no leader is known"
  survivor=$((first % 3 + 1))
  kill_node "$first"
  say "killed the leader n$first while the import ran"
  leader=""
  within 30 "another node leads" other_leads "$survivor" "$first" || fail "no new leader"
  say "n$leader leads"
}
other_leads() { leader=$(leader_of "$1") && [ -n "$leader" ] && [ "$leader" != "$2" ]; }

# restart_first restarts the node that kill_leader killed, and waits until it has
# caught up.
restart_first() {
  still_importing "before n$first came back"
  start_node "$first"
  say "restarted n$first"
  within 60 "n$first has caught up" caught_up "$first" "$(index_of "$survivor")" || fail "n$first does not catch up"
}
index_of() { local at; at=$(applied_of "$1"); echo "${at%% *}"; }
caught_up() { local at; at=$(index_of "$1"); [ -n "$at" ] && [ "$at" -ge "$2" ]; }

# kill_second kills the current leader, or else the survivor, and sets second.
kill_second() {
  second=$(leader_of "$first")
  if [ -z "$second" ] || [ "$second" = "$first" ]; then second=$survivor; fi
  kill_node "$second"
  say "killed n$second while the import ran"
  sleep 1
  still_importing "a second after n$second was killed"
}

# await_import waits for the end of the import, which must succeed.
await_import() {
  local code=0
  say "waiting for the import"
  within 600 "the import ends" ended || fail "the import does not end"
  wait "$importer" || code=$?
  importer=""
  cat "$work/summary.json"
  [ "$code" = 0 ] || { cat "$work/import.log"; fail "the import ended with code $code"; }
}
ended() { ! running "$importer"; }

# restart_second restarts the node that kill_second killed, and waits until all agree.
restart_second() {
  start_node "$second"
  say "restarted n$second"
  await_agreement
  say "the three nodes agree; verifying through each"
}
await_agreement() {
  within 120 "the three nodes agree" agree || { for n in 1 2 3; do applied_of $n; done; fail "the nodes do not agree"; }
}
agree() {
  local one
  one=$(applied_of 1)
  [ -n "$one" ] && [ "$one" = "$(applied_of 2)" ] && [ "$one" = "$(applied_of 3)" ]
}
