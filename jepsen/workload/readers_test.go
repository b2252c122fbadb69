package workload

import "testing"

func TestEachNodeHasOneReader(t *testing.T) {
	var r Readers
	bound := []*Process{{ID: 1, Node: "n1"}, {ID: 2, Node: "n2"}, {ID: 3, Node: "n1"}, {ID: 4}}
	for range 2 { // a repeated call returns the same
		for i, want := range []bool{true, true, false, false} {
			if got := r.Include(bound[i]); got != want {
				t.Errorf("process %d of node %q reads only: %t", bound[i].ID, bound[i].Node, got)
			}
		}
	}
}
