#!/usr/bin/env bash
# Prints a regular expression for the tests of a directory whose files start goroutines, or use what
# does: those in which the race detector can find something, if the code under test starts none.
set -euo pipefail
cd "$(dirname "$0")/.."
# shellcheck source=scripts/goroutines.sh
. scripts/goroutines.sh
grep -lE "$goroutines" "$1"/*_test.go | xargs grep -ohE '^func Test[[:alnum:]_]+' | sed 's/^func //' | paste -sd '|' | sed 's/.*/^(&)$/'
