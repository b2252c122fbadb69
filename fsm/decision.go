package fsm

import (
	"encoding/binary"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/txn"
	"dormouse/internal/invariant"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// A leader decides commits when it packs them, against the state that the entry will find: the
// entries before it are in its log, and applied. The entry then holds the writes in place of the
// commits, so followers need not decide again (docs/adr/057-decisions-in-the-log.md).

// decision is an entry that this replica has decided and not applied yet.
type decision struct {
	batch   *batch
	writes  *storage.Batch
	decided []agent.Decided
	crc     uint32 // of the entry
}

const (
	// decisionOverheadMax is how many more bytes a decision may have than twice its commits. An entry
	// whose commits write much, such as the fork of an agent, holds the commits.
	decisionOverheadMax = 64 << 10
	// decisionEntryBytesMax bounds an entry that holds a decision: the log has room for one commit of the
	// largest size.
	decisionEntryBytesMax = agent.CommitBytesMax
)

// Pack encodes commits as the log entry at an index and a term, with the leader's stamps and with
// this replica's chain, which the others compare. If it can, it decides the commits: the entry then
// applies only at this place, and if this replica has applied the entry before it. index 0 means that
// the place is not known.
func (m *Machine) Pack(index, term, tick uint64, wall int64, commits [][]byte) []byte {
	m.applying.Lock()
	defer m.applying.Unlock()
	forgetDecision(m)
	p := &logpb.Batch{TickMs: tick, WallMs: wall, AuditIndex: m.progress.Index, AuditChain: m.progress.Chain}
	if index > 0 && len(commits) > 0 && !m.options.EachDecides {
		m.decision = decide(m, index, term, p, commits)
	}
	d := m.decision
	if d == nil {
		p.Commits = commits
		return command.Pack(p)
	}
	due := d.batch.Due
	p.Decision = &logpb.Decision{
		Index: index, Term: term, Commits: uint64(len(commits)), Writes: d.writes.Encoding(),
		DueTick: due.Tick, DueWall: due.Wall, DueClaim: due.Claim,
		TickSwept: due.TickSwept, WallSwept: due.WallSwept, ClaimSwept: due.ClaimSwept,
		Touched: d.batch.Touched,
	}
	entry := command.Pack(p)
	if len(entry) > decisionEntryBytesMax {
		forgetDecision(m)
		p.Commits, p.Decision = commits, nil
		return command.Pack(p)
	}
	d.crc = binary.LittleEndian.Uint32(entry[4:])
	return entry
}

// forgetDecision drops the decision, if there is one: it will not be applied.
func forgetDecision(m *Machine) {
	if d := m.decision; d != nil {
		d.writes.Close()
		m.rows.Drop()
		m.decision = nil
	}
}

// decide decides commits. It returns nil, and leaves nothing behind, if the entry must hold the
// commits: if the term has not begun, or they change state that is in memory on each replica, or
// the decision is large. Errors are left to the replicas that apply the entry.
func decide(m *Machine, index, term uint64, p *logpb.Batch, commits [][]byte) *decision {
	if m.data.failed.Load() || m.level < txn.DecisionLevel || m.opening.Term != term || index <= m.progress.Index {
		return nil
	}
	b := openBatch(m, index, term, p)
	d := &decision{batch: b}
	var err error
	if d.decided, err = b.decideAll(commits); err != nil || !onlyRows(b) || b.complete() != nil {
		m.rows.Drop()
		return nil
	}
	d.writes = m.gen.engine.NewBatch()
	m.rows.WriteTo(d.writes)
	b.Touched = distinct(b.Touched)
	if d.writes.Bytes()+bytesOf(b.Touched) > min(2*bytesOf(commits)+decisionOverheadMax, decisionEntryBytesMax-decisionOverheadMax) {
		d.writes.Close()
		m.rows.Drop()
		return nil
	}
	return d
}

// onlyRows reports whether the entry changes, besides rows, only what a logpb.Decision holds.
func onlyRows(b *batch) bool {
	m := b.machine
	return b.roster == nil && !b.moved && !b.importsSet && !b.TokensChanged && !b.cluster && b.Opening == m.opening && b.MintBase == m.mintBase &&
		b.Defaults == m.defaults && b.Deletions == m.deletions
}

// distinct returns the rows without repetitions, in order.
func distinct(rows []string) []string {
	seen := make(map[string]struct{}, len(rows))
	return slices.DeleteFunc(rows, func(row string) bool {
		_, repeated := seen[row]
		seen[row] = struct{}{}
		return repeated
	})
}

// bytesOf returns the size of all parts, with room for the length of each.
func bytesOf[P ~string | ~[]byte](parts []P) (size int) {
	for _, part := range parts {
		size += len(part) + binary.MaxVarintLen16
	}
	return size
}

// applyDecision applies an entry that holds a decision.
func applyDecision(m *Machine, index, term uint64, p *logpb.Batch, own *decision) ([]agent.Decided, error) {
	d := p.Decision
	switch {
	case d.Index != index || d.Term != term || p.AuditIndex != m.progress.Index:
		// Another entry has come before this one, which Raft or another leader has added.
		forgetDecision(m)
		m.Counters.Displaced.Add(1)
		_, err := m.applyBatch(index, term, &logpb.Batch{TickMs: p.TickMs, WallMs: p.WallMs})
		return allAre(d, agent.Errorf(agent.CodeUnavailable, "another log entry came first: retry")), err
	case own != nil:
		m.decision = nil
		defer own.writes.Close()
		m.gen.warm.Begin(m.rows, false) // see onlyRows
		return own.decided, own.batch.write(own.writes, m.rows.Settle)
	default:
		forgetDecision(m)
		err := applyOthers(m, index, term, p)
		return allAre(d, agent.Errorf(agent.CodeUnknown, "this node applied the commit, and did not decide it")), err
	}
}

// applyOthers applies what another replica has decided.
func applyOthers(m *Machine, index, term uint64, p *logpb.Batch) error {
	invariant.Check(m.opening.Term == term, "entry %d was decided in term %d, which has not begun here", index, term)
	d := p.Decision
	writes, err := m.gen.engine.DecodeBatch(d.Writes)
	if err != nil {
		return fmt.Errorf("entry %d: %w", index, err)
	}
	defer writes.Close()
	b := openBatch(m, index, term, p)
	b.Due = txn.DueTimes{
		Tick: d.DueTick, Wall: d.DueWall, Claim: d.DueClaim,
		TickSwept: d.TickSwept, WallSwept: d.WallSwept, ClaimSwept: d.ClaimSwept,
	}
	b.Touched = d.Touched
	if err := m.gen.warm.BeginWrites(writes); err != nil {
		return err
	}
	return b.write(writes, m.rows.SettleOthers)
}

// allAre returns one error as the outcome of each commit.
func allAre(d *logpb.Decision, err *agent.Error) []agent.Decided {
	return slices.Repeat([]agent.Decided{{Err: err}}, int(d.Commits))
}
