package testbed_test

import (
	"slices"
	"strings"
	"testing"

	"dormouse/jepsen/testbed"
)

// A program gets its name and the addresses of the nodes, and is not listed as a node.
func TestAProgramIsToldWhereTheNodesAre(t *testing.T) {
	args, hosts, programs := testbed.ProgramBeside(2, "/bin/harness", "host", "--handler", "counter")
	want := "/bin/harness host --handler counter --name p1 --host-key-file host.key --listen 127.0.0.1:10022 --http 127.0.0.1:10020 --join 127.0.0.1:10002 --join 127.0.0.1:10012"
	if got := strings.Join(args, " "); got != want {
		t.Errorf("it is started as\n%s\nwant\n%s", got, want)
	}
	if !slices.Equal(hosts, []string{"n1", "n2"}) || !slices.Equal(programs, []string{"p1"}) {
		t.Errorf("nodes on %v, programs on %v", hosts, programs)
	}
}
