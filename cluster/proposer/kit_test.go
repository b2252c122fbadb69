package proposer

import (
	"context"
	"io"
	"sync/atomic"
	"testing"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"

	"dormouse/agent"
)

// idle is a Machine without a state.
type idle struct {
	tick uint64 // when something falls due
}

func (*idle) Pack(_, _, _ uint64, _ int64, commits [][]byte) []byte {
	return append([]byte{}, byte(len(commits)))
}
func (*idle) Applied() uint64                           { return 0 }
func (*idle) WaitApplied(context.Context, uint64) error { return nil }
func (m *idle) Due() (tick uint64, wall int64)          { return m.tick, 0 }
func (*idle) Snapshot() (raft.FSMSnapshot, error)       { return nil, nil } //nolint:nilnil // none is taken
func (*idle) Restore(r io.ReadCloser) error             { return r.Close() }

func (*idle) Apply(log *raft.Log) any { return make([]agent.Decided, log.Data[0]) }

// led returns a proposer over a Raft node that is its own only voter and leads, and the node's log.
func led(t *testing.T) (*Proposer, raft.LogStore) {
	t.Helper()
	machine, logs, snapshots := &idle{}, raft.NewInmemStore(), raft.NewInmemSnapshotStore()
	addr, network := raft.NewInmemTransport("n1")
	config := raft.DefaultConfig()
	config.LocalID, config.Logger = "n1", hclog.NewNullLogger()
	config.HeartbeatTimeout, config.ElectionTimeout, config.LeaderLeaseTimeout = 10*time.Millisecond, 10*time.Millisecond, 10*time.Millisecond
	voters := raft.Configuration{Servers: []raft.Server{{ID: "n1", Address: addr}}}
	if err := raft.BootstrapCluster(config, logs, logs, snapshots, network, voters); err != nil {
		t.Fatal(err)
	}
	r, err := raft.NewRaft(config, machine, logs, logs, snapshots, network)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Shutdown().Error() })
	<-r.LeaderCh()
	if err := r.Barrier(0).Error(); err != nil {
		t.Fatal(err)
	}
	p := New(Options{
		Machine: machine, Raft: r, Term: new(atomic.Pointer[Term]), Metrics: NewMetrics(),
		Writable: func() error { return nil }, Fatal: func(err error) { t.Error(err) }, Logger: config.Logger,
	})
	p.Term.Store(&Term{Number: r.CurrentTerm(), Opened: r.CommitIndex(), Clock: newClock(1, time.Now().UnixMilli(), time.Now())})
	return p, logs
}
