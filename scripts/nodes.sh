# Functions to run three nodes on loopback. A script sets bin (the directory of
# the binaries), data (a directory) and base (the first port: node n uses base +
# 10(n-1) for HTTP, and the next three ports) and sources this file. It ends every
# process that it starts by its pid.

pids=("" "" "" "" "") # by node number, from 1; a script may start a fourth node

http_of() { echo "127.0.0.1:$((base + 10 * ($1 - 1)))"; }
grpc_of() { echo "127.0.0.1:$((base + 10 * ($1 - 1) + 1))"; }
raft_of() { echo "127.0.0.1:$((base + 10 * ($1 - 1) + 2))"; }
gossip_of() { echo "127.0.0.1:$((base + 10 * ($1 - 1) + 3))"; }
endpoints() { echo "$(grpc_of 1),$(grpc_of 2),$(grpc_of 3)"; }

# start_node N: starts node n. All nodes have the same settings except for names
# and addresses. The first three nodes found the cluster; a fourth joins it.
start_node() {
  local n=$1
  mkdir -p "$data"
  if [ ! -e "$data/cluster.key" ]; then (umask 077 && "$bin/dormctl" cluster-key >"$data/cluster.key"); fi
  "$bin/dormoused" --node-id "n$n" --data-dir "$data/n$n" --cluster-key-file "$data/cluster.key" --auth off \
    --expect 3 --join "$(raft_of 1)" --join "$(raft_of 2)" --join "$(raft_of 3)" \
    --http-addr "$(http_of "$n")" --grpc-addr "$(grpc_of "$n")" \
    --raft-addr "$(raft_of "$n")" --gossip-addr "$(gossip_of "$n")" \
    >>"$data/n$n.log" 2>&1 </dev/null &
  pids[n]=$!
}

running() { [ -n "$1" ] && kill -0 "$1" 2>/dev/null; }

# stop_nodes sends SIGTERM to every node, and SIGKILL after 30 s.
stop_nodes() {
  local n deadline=$((SECONDS + 30))
  for n in 1 2 3 4; do running "${pids[n]}" && kill -TERM "${pids[n]}" 2>/dev/null; done
  for n in 1 2 3 4; do
    while running "${pids[n]}" && [ $SECONDS -lt $deadline ]; do sleep 0.1; done
    running "${pids[n]}" && kill -KILL "${pids[n]}" 2>/dev/null
    [ -n "${pids[n]}" ] && wait "${pids[n]}" 2>/dev/null
    pids[n]=""
  done
  return 0
}

# status_of N: the status of the cluster by node n, or nothing.
status_of() { "$bin/dormctl" --endpoints "$(grpc_of "$1")" --timeout 2s status 2>/dev/null || true; }

# leader_of N: the number of the leader by node n, or nothing.
leader_of() { status_of "$1" | sed -n 's/^leader  *n\([1-4]\)$/\1/p'; }

# applied_of N: the applied index of node n and its chain, as "INDEX (chain X)".
applied_of() { status_of "$1" | sed -n 's/^applied index  *//p'; }

# voters_of N: the number of voters by node n.
voters_of() { status_of "$1" | awk '$2 == "leader" || $2 == "voter"' | grep -c '^n[1-4] ' || true; }

# within SECONDS WHAT COMMAND…: waits until the command succeeds.
within() {
  local deadline=$((SECONDS + $1)) what=$2
  shift 2
  until "$@"; do
    if [ $SECONDS -ge $deadline ]; then
      echo "gave up waiting until $what" >&2
      return 1
    fi
    sleep 0.2
  done
}

all_vote() { [ "$(voters_of 1)" = 3 ]; }
