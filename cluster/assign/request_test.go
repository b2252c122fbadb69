package assign

import (
	"context"
	"testing"
	"time"

	"dormouse/agent/layout"
)

// leads is a Leadership of the node that leads.
type leads struct{ Leadership }

func (leads) IsLeader() bool        { return true }
func (leads) Tick() uint64          { return 1 << 20 }
func (leads) Leader() (_, _ string) { return "n1", "n1:raft" }

// twoMembers is a Machine and a Table with a node and a host.
type twoMembers struct {
	Machine
	Table
}

func (twoMembers) Members() []layout.Member {
	return []layout.Member{{ID: "n1"}, {ID: "h1", Host: true}}
}

func (twoMembers) EncodeRenewNodeLease(layout.NodeLease, *layout.Member) []byte {
	return []byte("renew")
}

func (twoMembers) EncodeEndNodeLease(string, string) []byte { return []byte("end") }

func (twoMembers) Partition(int) layout.Partition {
	return layout.Partition{Owner: "n1", Incarnation: "p", Epoch: 1}
}

func (twoMembers) EncodeMovePartitions([]layout.PartitionMove, string) []byte { return []byte("move") }

// A process that has proved only the host key cannot act for a node, nor become one.
func TestAHostActsForNoNode(t *testing.T) {
	var committed int
	a := New(Options{
		Placement: Placement{Table: twoMembers{}}, Machine: twoMembers{}, Leadership: leads{},
		Commit: func(context.Context, []byte) (uint64, error) { committed++; return 7, nil },
	})
	row := &layout.Member{ID: "h1", Host: true}
	for _, c := range []struct {
		what    string
		r       Request
		allowed bool
	}{
		{"a host renews", Request{Kind: Renew, Node: "h1", TTL: time.Second, Host: row, FromHost: true}, true},
		{"a new host renews", Request{Kind: Renew, Node: "h2", TTL: time.Second, Host: row, FromHost: true}, true},
		{"a host ends", Request{Kind: End, Node: "h1", FromHost: true}, true},
		{"a host renews as a node", Request{Kind: Renew, Node: "n1", TTL: time.Second, Host: row, FromHost: true}, false},
		{"a host begins a node's lease", Request{Kind: Renew, Node: "n9", TTL: time.Second, FromHost: true}, false},
		{"a host ends a node's lease", Request{Kind: End, Node: "n1", FromHost: true}, false},
		{"a host releases a node's partition", Request{Kind: Release, Node: "n1", Process: "p", Held: []Held{{1, 1}}, FromHost: true}, false},
		{"a node releases its partition", Request{Kind: Release, Node: "n1", Process: "p", Held: []Held{{1, 1}}}, true},
		{"a node renews", Request{Kind: Renew, Node: "n1", TTL: time.Second}, true},
	} {
		before := committed
		answer := a.Handle(t.Context(), c.r)
		if allowed := committed > before; allowed != c.allowed || allowed != (answer.Refused == "") {
			t.Errorf("%s: %+v, committed %v, want %v", c.what, answer, allowed, c.allowed)
		}
	}
}
