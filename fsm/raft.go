package fsm

import (
	"errors"
	"fmt"

	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/internal/failpoint"
	"dormouse/internal/logchain"
	logpb "dormouse/proto/log"
)

// errStopped is the error of all calls after the machine has failed.
var errStopped = errors.New("the state machine has failed and is stopped")

// Apply implements raft.FSM. It returns []agent.Decided, one for each commit of the entry. It
// returns nil if the entry was applied before, or if this replica has failed: then the decisions
// are unknown here.
//
// A failure is an engine that cannot be written, an entry that cannot be decoded, or a chain that
// differs from the leader's. Apply reports it to Options.Fatal and applies nothing from then on:
// skipping an entry would make this replica diverge.
func (m *Machine) Apply(entry *raft.Log) any {
	var none []agent.Decided
	m.applying.Lock()
	defer m.applying.Unlock()
	d := m.data
	if entry.Type != raft.LogCommand || d.failed.Load() {
		return none
	}
	d.seen = max(d.seen, entry.Index)
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
	if err := audit(m, b); err != nil {
		return nil, err
	}
	_, chain := m.Chain()
	m.chainNext = logchain.Next(chain, entry.Index, entry.Term, crc)
	failpoint.At(failpoint.ApplyBegin)
	var decided []agent.Decided
	if own := m.decision; b.Decision != nil {
		if own != nil && own.crc != crc {
			own = nil
		}
		decided, err = applyDecision(m, entry.Index, entry.Term, b, own)
	} else {
		forgetDecision(m)
		decided, err = m.applyBatch(entry.Index, entry.Term, b)
	}
	if err != nil {
		return nil, err
	}
	failpoint.At(failpoint.ApplyEnd)
	m.chains.Add(entry.Index, m.chainNext)
	return decided, nil
}

// audit compares the leader's chain at the time it packed the batch with this replica's chain at
// the same entry. It does nothing if that chain is not kept, as after a restart.
func audit(m *Machine, b *logpb.Batch) error {
	if b.AuditIndex == 0 {
		return nil
	}
	if chain, ok := m.chains.At(b.AuditIndex); ok && chain != b.AuditChain {
		return diverged(b.AuditIndex, chain, b.AuditChain)
	}
	return nil
}

func diverged(index uint64, own, others uint32) error {
	return fmt.Errorf("this replica has diverged from the leader: at entry %d its chain is %08x, the leader's %08x; "+
		"compare the chains that dormctl status shows, stop the odd node, empty its data directory and let it join again",
		index, own, others)
}

// stop ends this replica for good: see Options.Fatal.
func (m *Machine) stop(err error) {
	m.data.failed.Store(true)
	m.fatal(err)
}

// Snapshots returns the store in which Raft keeps its snapshots.
func (m *Machine) Snapshots() raft.SnapshotStore { return m.data.snapshots }

// Check returns an error if the checksum or the framing of an entry is wrong.
func (m *Machine) Check(entry []byte) error {
	_, err := command.CheckEntry(entry)
	return err
}
