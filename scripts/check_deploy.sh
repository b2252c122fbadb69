#!/usr/bin/env bash
# Checks the files of deploy/: the Helm chart is valid, deploy/kubernetes/dormouse.yaml is what it
# makes with the default values (--rewrite writes that file), Prometheus accepts the alert rules and
# the queries of the dashboard, and systemd accepts the unit.
set -euo pipefail
cd "$(dirname "$0")/.."
manifest=deploy/kubernetes/dormouse.yaml
helm=(go tool -modfile=tools/helm/go.mod helm)
made=$(mktemp)
trap 'rm -f "$made"' EXIT

"${helm[@]}" lint --strict --quiet deploy/helm/dormouse
{
  echo "# Made by scripts/check_deploy.sh --rewrite from deploy/helm/dormouse. It needs the secret"
  echo "# \"dormouse\" in the same namespace: see docs/deployment.md."
  "${helm[@]}" template dormouse deploy/helm/dormouse --kube-version 1.32.0
} >"$made"
if [ "${1:-}" = --rewrite ]; then
  cp "$made" "$manifest"
elif ! diff -u "$manifest" "$made"; then
  echo "$manifest is not what the chart makes: run scripts/check_deploy.sh --rewrite" >&2
  exit 1
fi
other() { "${helm[@]}" template other deploy/helm/dormouse --kube-version 1.32.0 --namespace ns --set "$1,spread=false"; }
for nodes in 1,expect=1 5,expect=5 12; do
  other "replicas=$nodes" >/dev/null
done
# A cluster of more nodes has the same pods: none restarts when it grows.
if ! diff <(other replicas=3 | grep -v replicas:) <(other replicas=12 | grep -v replicas:) >&2; then
  echo "the chart changes more than the number of pods with replicas" >&2
  exit 1
fi
for wrong in replicas=2 expect=0 replicas=12,expect=10; do
  if other "$wrong" >/dev/null 2>&1; then
    echo "the chart takes $wrong" >&2
    exit 1
  fi
done
# What a chart's user adds to a pod is in it, in the right place.
with=$(other 'redis=true,settingsFrom[0].secretRef.name=s3,extraVolumes[0].name=backups,extraVolumes[0].persistentVolumeClaim.claimName=all,extraVolumeMounts[0].name=backups,extraVolumeMounts[0].mountPath=/backups')
for part in 'DORMOUSE_REDIS__ADDR, value: ":7604"' 'containerPort: 7604' 'targetPort: redis' 'claimName: all' 'mountPath: /backups'; do
  if ! grep -qF -- "$part" <<<"$with"; then
    echo "the chart does not add $part" >&2
    exit 1
  fi
done
if [ "$(grep -A3 'envFrom:' <<<"$with" | tr -d ' \n')" != "envFrom:-secretRef:name:s3ports:" ]; then
  echo "the chart does not add settingsFrom" >&2
  exit 1
fi
# A port for clients takes a bounded number of connections, and clients must not end a pod.
if grep -A1 -E '(liveness|startup)Probe:' "$manifest" | grep -q 'port: \(http\|grpc\)'; then
  echo "a probe that ends pods waits for a port that clients can fill" >&2
  exit 1
fi

if command -v promtool >/dev/null; then
  promtool check rules deploy/prometheus/alerts.yml >/dev/null
  promtool test rules deploy/prometheus/alerts_test.yml >/dev/null
  queries=$(mktemp)
  go run ./internal/dashboards deploy/grafana/dormouse.json >"$queries"
  promtool check rules "$queries" >/dev/null
  rm "$queries"
fi

# systemd-analyze looks for the program, so it gets a unit that names one that exists.
if command -v systemd-analyze >/dev/null; then
  unit=$(mktemp -d)/dormouse.service
  sed "s|/usr/local/bin/dormoused|$(command -v true)|" deploy/systemd/dormouse.service >"$unit"
  systemd-analyze verify --man=no "$unit"
  rm -r "$(dirname "$unit")"
fi
echo "deploy/ is valid"
