#!/usr/bin/env bash
# Runs three nodes on loopback until interrupted; keeps their data.
#   scripts/cluster.sh          (DORMOUSE_CLUSTER_DIR, PORT_BASE to choose others)
set -euo pipefail
set -m # each node gets its own process group, so that Ctrl-C reaches only this script
cd "$(dirname "$0")/.."
bin=bin
data=${DORMOUSE_CLUSTER_DIR:-./dormouse-data/cluster}
base=${PORT_BASE:-7600}
. scripts/nodes.sh

if [ ! -x "$bin/dormoused" ] || [ ! -x "$bin/dormctl" ]; then
  echo "no binaries in $bin: run make build" >&2
  exit 1
fi
finish() {
  trap - EXIT INT TERM HUP
  echo "stopping" || true # the terminal may be gone
  stop_nodes
}
trap finish EXIT
trap 'exit 0' INT TERM HUP

for n in 1 2 3; do start_node $n; done
if ! within 60 "three nodes vote" all_vote; then
  tail -n 5 "$data"/n?.log >&2
  exit 1
fi

cat <<TEXT

Three nodes are awake; their data and logs are in $data. Ctrl-C stops them.

  n1  HTTP $(http_of 1)  gRPC $(grpc_of 1)  pid ${pids[1]}
  n2  HTTP $(http_of 2)  gRPC $(grpc_of 2)  pid ${pids[2]}
  n3  HTTP $(http_of 3)  gRPC $(grpc_of 3)  pid ${pids[3]}

In another terminal, try:

  export DORMOUSE_ENDPOINTS=$(endpoints)
  $bin/dormctl status
  $bin/dormctl import importer/testdata/transcripts.jsonl
  $bin/dormctl threads tail airline-047-1 -n 3
  $bin/dormctl agents thaw airline-047-1 --tail 2
  kill -9 ${pids[1]}     # a majority goes on without it
  $bin/dormctl import importer/testdata/transcripts.jsonl --verify --endpoints $(grpc_of 2),$(grpc_of 3)

TEXT

# Report a node that ends; the others go on.
while :; do
  alive=0
  for n in 1 2 3; do
    if running "${pids[n]}"; then
      alive=1
    elif [ -n "${pids[n]}" ]; then
      wait "${pids[n]}" && code=0 || code=$?
      echo "n$n ended with code $code; see $data/n$n.log"
      pids[n]=""
    fi
  done
  [ $alive = 1 ] || exit 1
  sleep 0.5
done
