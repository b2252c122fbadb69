#!/bin/sh
# Runs the tests of the client and of the adapters. internal/withcluster sets the environment.
set -eu
cd "$(dirname "$0")"
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
python3 -W error -m unittest discover -t . -s tests
for adapter in ../../adapters/python/*/; do
	[ -d "$adapter/tests" ] || continue
	PYTHONPATH=.:"$adapter" python3 -W error -m unittest discover -t "$adapter" -s "$adapter/tests"
done
