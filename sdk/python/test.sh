#!/bin/sh
# Runs the tests of the client and of the adapters. internal/withcluster sets the environment.
set -eu
cd "$(dirname "$0")"
export PYTHONPATH="$PWD" PYTHONDONTWRITEBYTECODE=1
python3 -W error -m unittest discover -t . -s tests
for adapter in ../../adapters/python/*/; do
	(cd "$adapter" && python3 -W error -m unittest discover -t . -s tests)
done
