package rest_test

import (
	"context"
	"io"
	"iter"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/agent/memstore"
)

// fake is a node over a store in memory. It records what the front asked of it, and
// fails as a test says.
type fake struct {
	*memstore.Store
	mu          sync.Mutex
	lastCommit  agent.Commit
	lastReads   agent.Reads
	lastWatch   agent.Watch
	commitFault error                                     // answers every commit
	readFault   error                                     // answers every read
	onCommit    func(ctx context.Context) error           // runs first
	onRead      func(ctx context.Context) error           // runs first
	onBackup    func(w io.Writer) error                   // is the backup
	onChange    func(layout.Change, string) error         // is the change
	onWatch     func(yield func(agent.Event, error) bool) // instead of the store's own
}

func newFake() *fake {
	f := &fake{}
	f.empty()
	return f
}

const fakeEpoch = 1_700_000_000_000 // the log's time at index 0; each commit is a ms

// empty begins again with a store that holds nothing.
func (f *fake) empty() {
	s := memstore.New()
	s.Clock = func() time.Time { return time.UnixMilli(fakeEpoch + int64(s.Index())) }
	s.BeforeCommit = func(context.Context, agent.Commit) error { return f.commitFault }
	s.BeforeRead = func(_ context.Context, r agent.Reads) error {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.lastReads = r
		return f.readFault
	}
	f.Store = s
}

// Commit implements agent.Service.
func (f *fake) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if f.onCommit != nil {
		if err := f.onCommit(ctx); err != nil {
			return agent.Result{}, err
		}
	}
	if err := c.Validate(); err != nil {
		return agent.Result{}, err
	}
	f.mu.Lock()
	f.lastCommit = c
	f.mu.Unlock()
	c.Fence = nil // tests name claims that nothing holds
	return f.Store.Commit(ctx, c)
}

// Read implements agent.Service.
func (f *fake) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if f.onRead != nil {
		if err := f.onRead(ctx); err != nil {
			return agent.Answers{}, err
		}
	}
	answers, err := f.Store.Read(ctx, r)
	answers.AgeMS = 12
	return answers, err
}

// Watch implements agent.Service.
func (f *fake) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	f.mu.Lock()
	f.lastWatch = w
	f.mu.Unlock()
	if f.onWatch != nil {
		return f.onWatch
	}
	return f.Store.Watch(ctx, w)
}

// stored reads one object from the store.
func stored[F agent.Found](k *kit, read agent.Read) F {
	k.Helper()
	answers, err := k.fake.Store.Read(k.Context(), agent.Reads{Reads: []agent.Read{read}})
	if err != nil || answers.Answers[0].Err != nil {
		k.Fatalf("%T: %v, %v", read, err, answers.Answers)
	}
	return answers.Answers[0].Found.(F)
}

func (f *fake) Status(context.Context) (layout.ClusterStatus, error) {
	if f.readFault != nil {
		return layout.ClusterStatus{}, f.readFault
	}
	return layout.ClusterStatus{
		ClusterID: "c1", Node: "n1", Leader: "n1", Term: 3, CommitIndex: 8, AppliedIndex: 7, Chain: 0xbeef,
		Members: []layout.MemberStatus{{Member: layout.Member{ID: "n1", HTTPAddr: "127.0.0.1:7600"}, Voter: true, Leader: true, Status: "alive", AppliedIndex: 7}},
	}, nil
}

func (f *fake) Change(_ context.Context, change layout.Change, node string) (string, error) {
	if f.onChange != nil {
		if err := f.onChange(change, node); err != nil {
			return "", err
		}
	}
	return "n2", nil
}

// PinPartition implements layout.Operator.
func (f *fake) PinPartition(_ context.Context, partition int, node string) error {
	if node == "unknown" {
		return layout.UnknownMember(node)
	}
	if partition < 0 || partition >= layout.Partitions {
		return layout.InvalidPartition(partition)
	}
	return nil
}

func (f *fake) Backup(_ context.Context, w io.Writer) error {
	if f.onBackup != nil {
		return f.onBackup(w)
	}
	_, err := w.Write([]byte("a whole store"))
	return err
}

func (*fake) Backups(context.Context) (layout.Backups, error) {
	return layout.Backups{
		Status:   layout.BackupStatus{URL: "file:///backups", Node: "n1", PublicKey: "dormpub_x", ShipsLog: true, LastName: "b1", LastIndex: 7, LastSuccessAt: 1_700_000_000_000, ShippedTo: 9, ShippedTime: 1_700_000_001_000, Next: 1_700_086_400_000},
		Backups:  []layout.BackupInfo{{Name: "b1", Node: "n1", Index: 7, Term: 2, Time: 1_700_000_000_000, StartedAt: 1_700_000_000_000, VerifiedAt: 1_700_000_000_500, StateBytes: 4096, Bytes: 4200, Encrypted: true, StateHash: "abc", Key: "dormpub_x"}},
		Segments: 3, StoredBytes: 12345,
	}, nil
}

func (*fake) TakeBackup(_ context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if progress != nil {
		progress(layout.BackupProgress{Phase: layout.BackupWrites, Done: 1, Total: 2})
	}
	return layout.BackupInfo{Name: "b2", Node: "n1", Index: 9, Bytes: 4300, StateHash: "abd"}, nil
}

func (*fake) ExportScope(_ context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := write(agent.ScopePart{Header: &agent.ScopeHeader{ClusterID: "c", Scope: agent.Scope{Name: scope}, Index: 7, Minted: 8}}); err != nil {
		return err
	}
	return write(agent.ScopePart{Rows: agent.AppendScopeRow(nil, agent.ScopeRow{Key: []byte("k"), Value: []byte("v")})})
}

func (*fake) JoinToken(_ context.Context, ttl time.Duration) (layout.JoinToken, error) {
	return layout.JoinToken{Secret: "dormjoin_for_" + ttl.String(), ExpiresAt: 17}, nil
}

func (f *fake) Placement(_ context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	if err := q.Validate(); err != nil {
		return layout.Placement{}, err
	}
	if q.Manager == "" {
		return layout.Placement{
			Index: 7, Nodes: []layout.PlacedNode{{Node: "n1", Weight: 100, Leased: true, Owned: 4000, Draining: 1}, {Node: "n2", Weight: 100, Leased: true, DrainedAt: 5}}, Free: 96,
			Pins:   []layout.Pin{{Partition: 5, Node: "n1", Since: 6}},
			Moving: []layout.Partition{{ID: 5, Owner: "n1", To: "n2", Why: "n2 joined"}},
		}, nil
	}
	return layout.Placement{Index: 7, Partition: &layout.Partition{ID: 42, Owner: "n1", Epoch: 9, State: layout.PartitionOwned, Why: q.Key}}, nil
}
