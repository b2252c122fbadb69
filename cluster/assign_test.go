package cluster_test

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/hashicorp/go-hclog"

	"dormouse/agent/layout"
	"dormouse/cluster"
	"dormouse/cluster/assign"
)

// drainer is a table in which everything is one node's, and drains.
type drainer struct {
	owner, life string
	whys        chan string // why partitions were moved
	refuses     atomic.Bool // every lease
}

func (d *drainer) Partition(n int) layout.Partition {
	return layout.Partition{ID: n, Owner: d.owner, Incarnation: d.life, Epoch: 7, State: layout.PartitionDraining, To: "n2"}
}

func (d *drainer) Partitions() []*layout.Partition    { return nil }
func (d *drainer) NodeLeases() []layout.NodeLease     { return nil }
func (d *drainer) DrainedNodes() []layout.DrainedNode { return nil }
func (d *drainer) Pins() []layout.Pin                 { return nil }
func (d *drainer) PartitionsChanged() <-chan struct{} { return nil }

func (d *drainer) EncodeRenewNodeLease(layout.NodeLease, *layout.Member) []byte {
	return encoded(command{Key: "leased", Refuse: d.refuses.Load()})
}

func (d *drainer) EncodeEndNodeLease(string, string) []byte           { return d.encode() }
func (d *drainer) EncodeLapseNodeLease(string, string, uint64) []byte { return d.encode() }

func (d *drainer) EncodeMovePartitions(_ []layout.PartitionMove, why string) []byte {
	d.whys <- why
	return d.encode()
}

func (d *drainer) EncodeDrainNode(string, bool) []byte { return d.encode() }

func (d *drainer) EncodePinPartition(int, string) []byte { return d.encode() }

func (d *drainer) encode() []byte { return encoded(command{Key: "moved"}) }

func encoded(c command) []byte {
	raw, err := json.Marshal(c)
	if err != nil {
		panic(err)
	}
	return raw
}

// A reason is an error's text, of a handler that says what it likes.
func TestWhyAPartitionStaysIsOfTheLogsKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		table := &drainer{owner: "n1", whys: make(chan string, 1)}
		n := l.start("n1", func(o *cluster.Options) { o.Bootstrap, o.Placement.Table = true, table })
		l.leader()
		table.life = n.group.Process()
		for name, c := range map[string]struct{ why, want string }{
			"short":             {"it broke", "it broke"},
			"cut inside a rune": {"a" + strings.Repeat("ä", layout.PlacementWhyBytesMax), "a" + strings.Repeat("ä", (layout.PlacementWhyBytesMax-1)/2)},
			"no text at all":    {"\xff\xfe!", "!"},
		} {
			if err := n.group.Partitions().Keep(t.Context(), assign.Held{Partition: 3, Epoch: 7}, c.why); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			asked := assign.Request{Kind: assign.Keep, Node: "n1", Process: table.life, Held: []assign.Held{{Partition: 3, Epoch: 7}}, Why: c.why}
			mine := <-table.whys
			if answer := n.group.RemoteView().HandleAssign(t.Context(), asked); answer.Index == 0 {
				t.Fatalf("%s: %+v", name, answer)
			}
			for _, got := range []string{mine, <-table.whys} {
				if got != c.want || !utf8.ValidString(got) {
					t.Errorf("%s: %q", name, got)
				}
			}
		}
	})
}

// A leader asks itself: that it refuses itself a lease is said like any other
// refusal, and not with each attempt.
func TestARefusedLeaseIsLoggedOncePerChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, said := newLab(t), &lines{text: "refuses this node a lease"}
		table := &drainer{owner: "n1"}
		table.refuses.Store(true)
		n := l.start("n1", func(o *cluster.Options) {
			o.Bootstrap, o.Placement.Table, o.Placement.LeaseTTL = true, table, 5*time.Second
			o.Logger = hclog.New(&hclog.LoggerOptions{Output: said})
		})
		l.leader()
		for refusals := 1; refusals <= 2; refusals++ {
			time.Sleep(time.Minute)
			said.mu.Lock()
			count := said.count
			said.mu.Unlock()
			if count != refusals || !n.group.Partitions().LeaseUntil().Before(time.Now()) {
				t.Errorf("%d lines after %d refusals; the lease stands until %v", count, refusals, n.group.Partitions().LeaseUntil())
			}
			table.refuses.Store(false)
			time.Sleep(time.Minute)
			if n.group.Partitions().LeaseUntil().Before(time.Now()) {
				t.Error("it has no lease, though it is granted one")
			}
			table.refuses.Store(true)
		}
	})
}

// eager is a table that counts who asks for a lease before there are members.
type eager struct {
	drainer
	members func() []layout.Member
	early   atomic.Int32
}

func (e *eager) EncodeRenewNodeLease(lease layout.NodeLease, m *layout.Member) []byte {
	if len(e.members()) == 0 {
		e.early.Add(1)
	}
	return e.drainer.EncodeRenewNodeLease(lease, m)
}

// A founder's row comes a moment after its cluster. A lease that it asked for
// before would be refused, with an alarm in the log of each first start.
func TestAFounderAsksForNoLeaseBeforeItIsAMember(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLab(t)
		table := &eager{drainer: drainer{owner: "n1"}}
		n := l.start("n1", func(o *cluster.Options) {
			table.members = o.Machine.Members
			o.Bootstrap, o.Placement.Table, o.Placement.LeaseTTL = true, table, 5*time.Second
		})
		l.until("it has a lease", func() bool { return n.group.Partitions().LeaseUntil().After(time.Now()) })
		if asked := table.early.Load(); asked > 0 {
			t.Errorf("it asked %d times before", asked)
		}
	})
}
