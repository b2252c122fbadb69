package main

import (
	"context"
	"io"
	"iter"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
)

// fakeNode is a node over a store in memory. Its clock and its counters are plain
// numbers, so that tests know its output exactly.
type fakeNode struct {
	*memstore.Store
	cluster  layout.ClusterStatus // the result of Status
	changed  []string             // the calls of Change
	drained  map[string]int       // :: drained node → partitions that it owns
	pins     []layout.Pin         // the pins of PinPartition
	placing  error                // the error of Placement
	feed     []agent.Changed      // the changes that a watch of changes yields
	snapshot []byte               // what Backup writes
	watched  agent.Watch          // the last call of Watch
}

// fakeStart is the log time at index 0. Each log entry takes one millisecond.
const fakeStart = 1_800_000_000_000

func newFakeNode() *fakeNode {
	s := memstore.New()
	s.Clock = func() time.Time { return time.UnixMilli(fakeStart + int64(s.Index())) }
	return &fakeNode{Store: s}
}

// fakePage is the most entries in one page of a load, so that tests see several pages.
const fakePage = 4

// Read implements agent.Service. The thread "broken" cannot be verified.
func (f *fakeNode) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	reads := make([]agent.Read, len(r.Reads))
	for i, read := range r.Reads {
		if load, ok := read.(*agent.LoadEntries); ok && (load.Limit == 0 || load.Limit > fakePage) {
			paged := *load
			paged.Limit = fakePage
			read = &paged
		}
		reads[i] = read
	}
	r.Reads = reads
	answers, err := f.Store.Read(ctx, r)
	for i, answer := range answers.Answers {
		verify, ok := r.Reads[i].(*agent.VerifyThread)
		if verified, found := answer.Found.(*agent.Verified); ok && found && verify.Thread == "broken" {
			verified.OK, verified.Why = false, "entry 0 differs"
		}
	}
	return answers, err
}

// Watch implements agent.Service. A watch ends after what there is now: that of a
// thread or of changes as if it were deleted.
func (f *fakeNode) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	f.watched = w
	return func(yield func(agent.Event, error) bool) {
		switch {
		case w.Changes:
			f.watchFeed(w, yield)
			return
		case w.Claim != "":
			for event, err := range f.Store.Watch(ctx, w) {
				yield(event, err)
				return
			}
		}
		rev := uint64(0)
		answers, err := f.Store.Read(ctx, agent.Reads{Scope: w.Scope, Reads: []agent.Read{&agent.GetThread{Thread: w.Thread}}})
		if err == nil && answers.Answers[0].Err == nil {
			rev = answers.Answers[0].Found.(*agent.Thread).Rev
		}
		if w.From < rev {
			for event, err := range f.Store.Watch(ctx, w) {
				if !yield(event, err) || err != nil || event.Last() {
					return
				}
				if event.Entry.Seq+1 == rev {
					break
				}
			}
		}
		yield(agent.Event{Kind: agent.EventDeleted}, nil)
	}
}

func (f *fakeNode) watchFeed(w agent.Watch, yield func(agent.Event, error) bool) {
	if len(f.feed) > 0 && w.From != 0 && w.From < f.feed[0].Index {
		yield(agent.Event{Kind: agent.EventCompacted, Floor: f.feed[0].Index}, nil)
		return
	}
	event := agent.Event{Kind: agent.EventChanges}
	for _, c := range f.feed {
		if (c.Index > w.From || c.Index == w.From && c.Ordinal >= w.Skip) && c.Under(w.Prefix) {
			event.Changes = append(event.Changes, c)
		}
	}
	if yield(event, nil) {
		yield(agent.Event{Kind: agent.EventDeleted}, nil)
	}
}

// Status implements layout.Operator.
func (f *fakeNode) Status(context.Context) (layout.ClusterStatus, error) { return f.cluster, nil }

// Change implements layout.Operator.
func (f *fakeNode) Change(_ context.Context, change layout.Change, node string) (string, error) {
	f.changed = append(f.changed, string(change)+" "+node)
	if node == "unknown" {
		return "", agent.Errorf(agent.CodeNotFound, "there is no node %q", node)
	}
	if change == layout.ChangeDrain {
		f.drained = map[string]int{node: 1500}
	}
	return "n2", nil
}

// PinPartition implements layout.Operator.
func (f *fakeNode) PinPartition(_ context.Context, partition int, node string) error {
	if node == "unknown" {
		return layout.UnknownMember(node)
	}
	f.pins = []layout.Pin{{Partition: partition, Node: node, Since: 1_700_000_000_000}}
	if node == "" {
		f.pins = nil
	}
	return nil
}

// Backup implements layout.Operator.
func (f *fakeNode) Backup(_ context.Context, w io.Writer) error {
	_, err := w.Write(f.snapshot)
	return err
}

func (*fakeNode) Backups(context.Context) (layout.Backups, error) {
	return layout.Backups{
		Status:   layout.BackupStatus{URL: "file:///backups", Node: "n1", PublicKey: "dormpub_x", ShipsLog: true, LastName: "b1", LastIndex: 7, LastSuccessAt: 1_700_000_000_000, ShippedTo: 9, ShippedTime: 1_700_000_001_000, Next: 1_700_086_400_000},
		Backups:  []layout.BackupInfo{{Name: "b1", Node: "n1", Index: 7, Term: 2, Time: 1_700_000_000_000, StartedAt: 1_700_000_000_000, VerifiedAt: 1_700_000_000_500, StateBytes: 4096, Bytes: 4200, Encrypted: true, StateHash: "abc", Key: "dormpub_x"}},
		Segments: 3, StoredBytes: 12345,
	}, nil
}

func (*fakeNode) TakeBackup(_ context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if progress != nil {
		progress(layout.BackupProgress{Phase: layout.BackupWrites, Done: 1, Total: 2})
	}
	return layout.BackupInfo{Name: "b2", Node: "n1", Index: 9, Bytes: 4300, StateHash: "abd"}, nil
}

// ExportScope implements layout.Operator; this node has no rows.
func (*fakeNode) ExportScope(context.Context, string, func(agent.ScopePart) error) error {
	return agent.Errorf(agent.CodeInternal, "the fake store cannot export scopes")
}

// JoinToken implements layout.Operator.
func (*fakeNode) JoinToken(_ context.Context, ttl time.Duration) (layout.JoinToken, error) {
	return layout.JoinToken{Secret: "dormjoin_for_" + ttl.String() + "@127.0.0.1:7602", ExpiresAt: 1_700_000_000_000}, nil
}

// Placement implements layout.Operator. A drained node has released half of its partitions at each
// call; n9 releases none.
func (f *fakeNode) Placement(_ context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if f.placing != nil {
		return layout.Placement{}, f.placing
	}
	p := layout.Placement{Pins: f.pins, Nodes: []layout.PlacedNode{{Node: "n1", Weight: 100, Leased: true, Owned: 2000}}}
	for node, owned := range f.drained {
		p.Nodes = append(p.Nodes, layout.PlacedNode{Node: node, Weight: 100, Leased: true, Owned: owned, DrainedAt: 1_700_000_000_000})
		if node != "n9" {
			f.drained[node] = owned / 40
		}
	}
	if q.Manager != "" {
		p.Partition = &layout.Partition{ID: 7, Owner: "n1", Epoch: 4, State: layout.PartitionOwned, Why: "node n3 is drained"}
		p.Candidates = []layout.PlacementCandidate{{Node: "n3", Weight: 100, Score: 2, Drained: true}, {Node: "n1", Weight: 100, Score: 1}}
	}
	return p, q.Validate()
}

// Instances returns no instances.
func (*fakeNode) Instances() agent.Instances { return nil }

// Close does nothing.
func (*fakeNode) Close() error { return nil }

// WhoAmI returns no principal: the node asks for no credentials.
func (*fakeNode) WhoAmI(context.Context) (access.Principal, error) { return access.Principal{}, nil }
