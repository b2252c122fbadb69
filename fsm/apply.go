package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/erasure"
	"dormouse/fsm/memory"
	"dormouse/fsm/token"
	"dormouse/fsm/txn"
	"dormouse/fsm/watch"
	"dormouse/internal/invariant"
	"dormouse/internal/seededbug"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// batch is one log entry while it is applied, and the next value of the machine's in-memory state.
type batch struct {
	*txn.Entry
	machine    *Machine
	clients    map[clientID]*clientState
	roster     *roster // nil until the entry changes it
	placed     placed
	moved      bool // placed has changed other than by lease renewals
	imports    imports
	imported   bool // an import has ended
	importsSet bool // imports has changed
	shared     bool // the entry has several commits
	cluster    bool // a commit has ops that only nodes send
	counted    txn.EntryCounters

	tx      txn.Tx // of the commit that runs
	outcome []byte // of the commit that runs, if it is not refused
}

// entryRowsBytesMax is how much an entry may have written when another commit begins to run in it:
// the engine takes the rows of an entry as one batch. Beyond it a commit is refused as overloaded;
// the client retries it in a later entry.
const entryRowsBytesMax = 64 << 20

// applyBatch applies one log entry in one engine batch, which also records the applied index. An
// error means that this replica must stop.
func (m *Machine) applyBatch(index, term uint64, p *logpb.Batch) ([]agent.Decided, error) {
	if index <= m.progress.Index {
		return nil, fmt.Errorf("entry %d comes after entry %d has been applied", index, m.progress.Index)
	}
	b := openBatch(m, index, term, p)
	if err := b.openTerm(); err != nil {
		return nil, fmt.Errorf("open term %d: %w", term, err)
	}
	decided, err := b.decideAll(p.Commits)
	if err != nil {
		return nil, err
	}
	if err := b.commit(); err != nil {
		return nil, err
	}
	return decided, nil
}

// openBatch returns a log entry over the machine's state.
func openBatch(m *Machine, index, term uint64, p *logpb.Batch) *batch {
	m.rows.Open(m.gen.engine)
	return &batch{
		Entry: &txn.Entry{
			Progress: m.progress.Next(index, term, p.TickMs, p.WallMs),
			Rows:     m.rows,
			Scopes:   map[string]txn.ScopeState{},
			Due:      m.due,
			Opening:  m.opening,
			Level:    m.level,
			MintBase: m.mintBase,
			Defaults: m.defaults,
			Eraser:   erasure.Eraser{},

			Deletions: m.deletions,
		},
		machine: m,
		clients: map[clientID]*clientState{},
		placed:  m.placed,
		imports: *m.imports.Load(),
	}
}

// decideAll removes what is due, and decides the commits in order.
func (b *batch) decideAll(commits [][]byte) ([]agent.Decided, error) {
	if err := b.sweep(); err != nil {
		return nil, fmt.Errorf("sweep: %w", err)
	}
	decided := make([]agent.Decided, len(commits))
	b.shared = len(commits) > 1
	for i, raw := range commits {
		c, err := command.DecodeLogCommit(raw)
		if err != nil {
			return nil, fmt.Errorf("commit %d: %w", i, err)
		}
		b.cluster = b.cluster || len(c.ClusterOps) > 0
		if decided[i], err = b.request(c); err != nil {
			return nil, fmt.Errorf("commit %d: %w", i, err)
		}
	}
	return decided, nil
}

// commit writes the batch to the engine and then publishes the new state to readers.
func (b *batch) commit() error {
	if err := b.complete(); err != nil {
		return err
	}
	b.machine.gen.warm.Begin(b.Rows, b.importsSet)
	writes := b.machine.gen.engine.NewBatch()
	defer writes.Close()
	b.Rows.WriteTo(writes)
	return b.write(writes, b.Rows.Settle)
}

// complete adds the rows that all commits of the entry share.
func (b *batch) complete() error {
	if err := b.StoreFeeds(); err != nil {
		return err
	}
	if err := b.StoreScopes(); err != nil {
		return err
	}
	return b.storeClients()
}

// write commits an entry's writes, settles its rows, and publishes the new state to readers. The
// read cache must have begun the entry.
func (b *batch) write(writes *storage.Batch, settle func()) error {
	m := b.machine
	invariant.Check(b.Progress.Tick >= m.progress.Tick && b.Progress.Wall >= m.progress.Wall,
		"time runs back at entry %d: tick %d after %d, wall %d after %d",
		b.Progress.Index, b.Progress.Tick, m.progress.Tick, b.Progress.Wall, m.progress.Wall)
	if seededbug.Is(seededbug.WatchWokenEarly) {
		watch.Wake(&m.Rows, b.Touched)
		b.Touched = nil
	}
	if seededbug.Is(seededbug.HalfACommitVisible) {
		if err := b.Rows.ShowCheckpoints(m.gen.engine); err != nil {
			return err
		}
	}
	if b.Deletions != m.deletions {
		m.deletionChanges.Add(1)
	}
	forgotten, err := memory.Forgotten(writes)
	if err != nil {
		return err
	}
	if b.TokensChanged {
		m.tokens.Add(1) // odd until the entry is published: views may include it from the commit on
	}
	b.Progress.Chain = m.chainNext
	b.Progress.Write(writes)
	if err := m.gen.engine.Commit(writes); err != nil {
		return err
	}
	settle()
	m.Counters.Add(b.counted)
	m.applyRows.Store(int64(m.hot.Bytes()))
	if err := b.Due.Refresh(m.gen.engine); err != nil {
		return err
	}

	m.mu.Lock()
	m.progress, m.due, m.opening = b.Progress, b.Due, b.Opening
	if r := b.roster; r != nil {
		m.members, m.removed, m.level = r.members, r.removed, r.level
	}
	m.mintBase, m.defaults = b.MintBase, b.Defaults
	m.deletions, m.deletionsAt = b.Deletions, m.deletionChanges.Load()
	if b.TokensChanged {
		m.tokens.Add(1)
	}
	if b.imported { // a memory index of an earlier scope of this name may have the same numbers
		m.recalls = newRecalls(m.options)
	}
	m.showPlaced(b.placed, b.Opening, b.moved)
	m.mu.Unlock()
	memory.Forget(m.recalls, forgotten)
	m.imports.Store(&b.imports)
	m.gen.warm.End()
	m.waiters.Wake(b.Progress.Index)
	watch.Wake(&m.Rows, b.Touched)
	return nil
}

// machineCommit is a commit that also changes the machine's in-memory state: members, node leases,
// partitions and imports.
type machineCommit struct {
	*txn.Tx
	batch *batch
}

// decide runs a commit's ops: either all of them apply, or none and it returns a refusal.
func (b *batch) decide(p *logpb.Commit) (agent.Decided, error) {
	m, told := b.Rows.Begin(), len(b.Changes)
	roster, placed, imported, mintBase, defaults, deletions := b.roster, b.placed, b.imports, b.MintBase, b.Defaults, b.Deletions
	results, err := b.guarded(p.Scope, func() ([]agent.OpResult, error) { return b.run(p) })
	if err == nil {
		return agent.Decided{Result: agent.Result{
			Index: b.Progress.Index, Time: b.Progress.Wall, Results: results,
		}}, nil
	}
	refusal, ok := err.(*agent.Error) //nolint:errorlint // a wrapped one is a bug, which must stop the replica
	if !ok {
		return agent.Decided{}, err
	}
	if !seededbug.Is(seededbug.HalfACommitApplied) && (!seededbug.Is(seededbug.RefusedAtQuotaStays) || refusal.Code != agent.CodeQuotaExceeded) {
		b.Rows.Rollback(m)
		if !seededbug.Is(seededbug.FeedTellsOfRefused) {
			b.Changes = b.Changes[:told]
		}
	}
	b.roster, b.placed, b.imports, b.MintBase, b.Defaults, b.Deletions = roster, placed, imported, mintBase, defaults, deletions
	return refused(refusal), nil
}

func (b *batch) run(p *logpb.Commit) ([]agent.OpResult, error) {
	if b.Minted+txn.MintsMax*uint64(len(p.Ops)+len(p.ClusterOps)) > txn.MintedMax || b.Rows.Size() > entryRowsBytesMax {
		return nil, agent.Errorf(agent.CodeOverloaded, "the log entry is full: retry")
	}
	began := b.Rows.Size()
	if p.Token != "" && !seededbug.Is(seededbug.RevokedTokenCommits) {
		if err := token.Authentic(b.Entry, p.Token); err != nil {
			return nil, err
		}
	}
	if err := b.fenced(p.Scope, p.Fence); err != nil {
		return nil, err
	}
	if err := b.writable(p); err != nil {
		return nil, err
	}
	b.tx = txn.Tx{Entry: b.Entry, Scope: p.Scope, Principal: p.Principal}
	b.tx.Bytes = txn.CommitBytes{Rows: b.Rows, Before: began, Reads: b.Level >= txn.ReadBytesLevel}
	c := machineCommit{&b.tx, b}
	if err := c.OpenScope(); err != nil {
		return nil, err
	}
	results := make([]agent.OpResult, len(p.Ops)+len(p.ClusterOps))
	for i := range results {
		var result agent.OpResult
		var err error
		if i < len(p.Ops) {
			result, err = runLogOp(c, p.Ops[i], len(results) == 1)
		} else {
			result, err = runClusterOp(c, p.ClusterOps[i-len(p.Ops)])
		}
		if err == nil {
			err = b.tx.Bytes.Check()
		}
		if err != nil {
			if refusal, ok := err.(*agent.Error); ok { //nolint:errorlint // as in decide
				refusal.Op = i
			}
			return nil, err
		}
		results[i] = result
	}
	result := agent.Result{Index: b.Progress.Index, Time: b.Progress.Wall, Results: results}
	outcome, err := command.FitOutcome(result, b.Level >= txn.OutcomeLevel)
	if err != nil {
		return nil, err
	}
	b.outcome = outcome
	if err := c.closeScope(); err != nil {
		return nil, err
	}
	return results, nil
}
