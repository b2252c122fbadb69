package fsm

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm/command"
	logpb "dormouse/proto/log"
)

// errStopped is what a machine that has failed says to everything.
var errStopped = errors.New("the state machine has failed and does nothing more")

// Apply implements raft.FSM. It returns []agent.Decided, one for each commit
// of the entry; nil where the entry had been applied before, and where this
// replica has failed: then nobody here knows how the commits were decided.
//
// A failure (an engine that cannot be written, an entry that cannot be
// understood, a chain that differs from the leader's) is told to
// Options.Fatal, and from then on nothing is applied: skipping one entry and
// going on would make this replica another one.
func (m *Machine) Apply(entry *raft.Log) any {
	var none []agent.Decided
	h := m.home
	if entry.Type != raft.LogCommand || h.failed.Load() {
		return none
	}
	h.seen = max(h.seen, entry.Index)
	if applied, _ := m.Chain(); entry.Index <= applied {
		return none
	}
	decided, err := m.apply(entry)
	if err != nil {
		m.stop(fmt.Errorf("apply entry %d of term %d: %w", entry.Index, entry.Term, err))
		return none
	}
	return decided
}

func (m *Machine) apply(entry *raft.Log) ([]agent.Decided, error) {
	b, crc, err := command.Unpack(entry.Data)
	if err != nil {
		return nil, err
	}
	if err := m.audit(b); err != nil {
		return nil, err
	}
	_, chain := m.Chain()
	m.chainNext = nextChain(chain, entry.Index, entry.Term, crc)
	decided, err := m.applyBatch(entry.Index, entry.Term, b)
	if err != nil {
		return nil, err
	}
	m.chains.add(entry.Index, m.chainNext)
	return decided, nil
}

// audit compares the leader's chain, as it stood when it packed the batch,
// with ours at the same entry. Where we no longer know ours, as after a
// restart, it says nothing.
func (m *Machine) audit(b *logpb.Batch) error {
	if b.AuditIndex == 0 {
		return nil
	}
	if chain, ok := m.chains.at(b.AuditIndex); ok && chain != b.AuditChain {
		return diverged(b.AuditIndex, chain, b.AuditChain)
	}
	return nil
}

func diverged(index uint64, own, others uint32) error {
	return fmt.Errorf("this replica has diverged from the leader's: at entry %d its chain is %08x, the leader's %08x; "+
		"compare the chains that dormctl status shows, stop the odd node, empty its data directory and let it join again",
		index, own, others)
}

// stop ends this replica for good: see Options.Fatal.
func (m *Machine) stop(err error) {
	m.home.failed.Store(true)
	m.fatal(err)
}

// Snapshots is the store that Raft is to keep its snapshots in.
func (m *Machine) Snapshots() raft.SnapshotStore { return m.home.snapshots }

// Pack frames commits, each encoded, as one log entry, under the leader's
// stamps, and adds how this replica's chain stands, for the others to compare.
func (m *Machine) Pack(tick uint64, wall int64, commits [][]byte) []byte {
	index, chain := m.Chain()
	return command.Pack(&logpb.Batch{TickMs: tick, WallMs: wall, AuditIndex: index, AuditChain: chain, Commits: commits})
}

// Check reports whether an entry is as it was packed, whatever it means.
func (m *Machine) Check(entry []byte) error {
	_, err := command.CheckEntry(entry)
	return err
}
