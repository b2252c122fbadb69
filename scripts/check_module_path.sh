#!/usr/bin/env bash
# Fails if "make module-path" does not change the module path of a copy of this
# module. What users run and import must build in the copy, which must have fresh
# generated code, pass the tests of two packages, and be importable by another
# module as docs/embedding.md shows.
set -euo pipefail
cd "$(dirname "$0")/.."
new=example.com/team/dormouse
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
copy=$work/dormouse
mkdir "$copy"
git ls-files -z --cached --others --exclude-standard | xargs -0 -I{} sh -c '[ ! -f "$1" ] || cp --parents -- "$1" "$2"' sh {} "$copy"

cd "$copy"
old=$(head -n 1 go.mod | cut -d' ' -f2)
make --no-print-directory module-path NEW="$new"
go list -deps -test ./... >"$work/packages"
go list -export -deps ./client ./cmd/dormctl ./host ./node >/dev/null # compiles what users run and import
if grep -E "^$old(/|\$)" "$work/packages"; then
  echo "packages of $old are still imported" >&2
  exit 1
fi
if ! git -c init.defaultBranch=main init -q . || grep -rnE --include='*.pb.go' "\"$old/" . >&2; then
  echo "generated code still has the path $old" >&2
  exit 1
fi
make --no-print-directory test PKG="./agent ./internal/modpath/..."
go run ./internal/sdkgo/assemble
for module in cmd/dormbench cmd/dormblob bench/etcd sdk/go/example adapters/go/adk adapters/go/dapr adapters/go/eino adapters/go/valkeyrie examples/adk-team; do
  (cd $module && go list -m >/dev/null && go mod edit -json >/dev/null)
  head -n 1 $module/go.mod | grep -qx "module $new/$module"
done
(cd adapters/go/valkeyrie && go vet ./...)

# Another module, which runs the commands of docs/embedding.md.
mkdir "$work/outside"
cd "$work/outside"
cat >main.go <<GO
// Command outside is a program that has Dormouse inside of it.
package main

import (
	"fmt"

	"$new/agent"
	"$new/client"
	"$new/instance"
	"$new/node"
)

func main() {
	c, err := client.Dial(client.Options{Endpoints: []string{"127.0.0.1:1"}})
	fmt.Println(c.Close(), err, node.Options{Handlers: map[string]instance.GoHandler{}}.Alone, agent.DefaultScope)
}
GO
go mod init example.org/outside 2>/dev/null
go mod edit -require="$new@v0.0.0" -replace="$new=$copy"
go mod tidy
go vet .
echo "a copy at $new builds, passes tests, and is imported"
