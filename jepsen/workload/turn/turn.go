// Package turn drives commits over several threads and checkpoints. It checks that
// each is applied whole or not at all.
package turn

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// turn makes commits that append to threads and put checkpoints together, and reads
// all of these objects at one index. A key is a group of objects: its threads and
// checkpoints. Each commit and each read stays within one group.
//
// The order of versions is visible: a thread's in its seqs, a checkpoint's in its
// revisions. Every entry and state names the commit that wrote it. So the checker
// needs no search: see check.go.
type turn struct {
	keys    *workload.Keys
	commits atomic.Int64 // number of commits so far; numbers them
	readers workload.Readers
}

// The objects of a group. Their names are short because histories are long.
var (
	threads     = []string{"t0", "t1", "t2"}
	checkpoints = []string{"c0", "c1"}
	objects     = slices.Concat(threads, checkpoints)
)

const (
	callsMax = 400 // picks of a key; half of them make two calls
	tail     = 3   // entries of each thread that a read returns
)

// New returns workload turn.
func New() workload.Workload { return &turn{keys: workload.NewKeys("turn", 2, callsMax)} }

func (*turn) Name() string { return "turn" }

func (*turn) About() string {
	return "commits over threads and checkpoints, reads of them at one index: strictly serializable, never half a commit, no pointer without its entries"
}

// turnCommit is the input of a commit. Its states contain By, and each of its entries
// has a name of its own.
type turnCommit struct {
	By      string       `json:"by"`
	Appends []turnAppend `json:"appends,omitempty"`
	Puts    []turnPut    `json:"puts,omitempty"`
}

// entry returns the name of the commit's entry at a position of each append.
func (c turnCommit) entry(at int) string { return fmt.Sprintf("%s.%d", c.By, at) }

// writes returns all writes of the commit.
func (c turnCommit) writes() (all []workload.Write) {
	for _, a := range c.Appends {
		for i := range a.Entries {
			all = append(all, workload.Write{Object: a.Thread, Name: c.entry(i)})
		}
	}
	for _, put := range c.Puts {
		all = append(all, workload.Write{Object: put.Checkpoint, Name: c.By})
	}
	return all
}

type turnAppend struct {
	Thread  string  `json:"thread"`
	Entries int     `json:"entries"`
	Rev     *uint64 `json:"rev,omitempty"` // expected rev
	IDs     bool    `json:"ids,omitempty"` // chosen ids, otherwise generated ones
}

type turnPut struct {
	Checkpoint string       `json:"checkpoint"`
	Revision   *uint64      `json:"revision,omitempty"` // expected revision
	Pointer    *turnPointer `json:"pointer,omitempty"`
}

type turnPointer struct {
	Thread string `json:"thread"`
	Rev    uint64 `json:"rev"`
}

// committed is the answer of a commit, in the order of its writes.
type committed struct {
	Index     uint64     `json:"index"`
	Seqs      [][]uint64 `json:"seqs,omitempty"`
	Revisions []uint64   `json:"revisions,omitempty"`
}

// turnAsk is the input of a read.
type turnAsk struct {
	Tail  uint64 `json:"tail,omitempty"`  // entries of each thread; 0 means all
	Stale bool   `json:"stale,omitempty"` // it may be at any earlier index, but at only one
}

// turnState is a group as it was read at an index.
type turnState struct {
	Index       uint64                    `json:"index"`
	Threads     map[string]turnThread     `json:"threads,omitempty"`     // existing ones
	Checkpoints map[string]turnCheckpoint `json:"checkpoints,omitempty"` // existing ones
}

type turnThread struct {
	Rev uint64   `json:"rev"`
	By  []string `json:"by,omitempty"` // the last entries, up to Rev
}

type turnCheckpoint struct {
	Revision uint64       `json:"revision"`
	By       string       `json:"by"`
	Pointer  *turnPointer `json:"pointer,omitempty"`
}

func (p *turnPointer) String() string {
	if p == nil {
		return "none"
	}
	return fmt.Sprintf("rev %d of %s", p.Rev, p.Thread)
}

func (w *turn) Run(ctx context.Context, p *workload.Process) {
	if w.readers.Include(p) {
		w.readers.Run(ctx, p, func(ctx context.Context) {
			_, _ = w.read(ctx, p, w.keys.Pick(p), turnAsk{Tail: tail})
		})
		return
	}
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch p.Rand.IntN(6) {
		case 0:
			w.commit(ctx, p, key, w.draw(p, nil))
		case 1:
			_, _ = w.read(ctx, p, key, turnAsk{Tail: tail})
		case 2:
			_, _ = w.read(ctx, p, key, turnAsk{Tail: tail, Stale: true})
		default:
			if state, err := w.read(ctx, p, key, turnAsk{Tail: tail}); err == nil {
				w.commit(ctx, p, key, w.draw(p, &state))
			}
		}
	}
}

// Final reads every group whole.
func (w *turn) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := w.read(ctx, p, key, turnAsk{})
		return err
	})
}

// draw returns a new commit. If known is not nil, the commit expects some of it to be
// unchanged, and points checkpoints at the entries that it appends.
func (w *turn) draw(p *workload.Process, known *turnState) turnCommit {
	c := turnCommit{By: workload.WriteName(p, w.commits.Add(1))}
	var pointer *turnPointer
	for _, at := range p.Rand.Perm(len(threads))[:1+p.Rand.IntN(2)] {
		a := turnAppend{Thread: threads[at], Entries: 1 + p.Rand.IntN(2), IDs: p.Rand.IntN(4) == 0}
		if known != nil && p.Rand.IntN(3) > 0 {
			rev := known.Threads[a.Thread].Rev
			a.Rev = &rev
			pointer = &turnPointer{Thread: a.Thread, Rev: rev + uint64(a.Entries)}
		}
		c.Appends = append(c.Appends, a)
	}
	for _, at := range p.Rand.Perm(len(checkpoints))[:p.Rand.IntN(len(checkpoints)+1)] {
		put := turnPut{Checkpoint: checkpoints[at], Pointer: pointer}
		if known != nil && p.Rand.IntN(3) == 0 {
			revision := known.Checkpoints[put.Checkpoint].Revision
			put.Revision = &revision
		}
		c.Puts = append(c.Puts, put)
	}
	return c
}

func (*turn) commit(ctx context.Context, p *workload.Process, key string, c turnCommit) {
	_, _ = workload.Call(ctx, p, "commit", key, true, c, func(ctx context.Context) (committed, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: c.ops(key)})
		if err != nil {
			return committed{}, err
		}
		return c.committed(result)
	})
}

// turnName returns the store's name of a group's object.
func turnName(key, object string) string { return key + "/" + object }

func (c turnCommit) ops(key string) []agent.Op {
	var ops []agent.Op
	for _, a := range c.Appends {
		op := &agent.AppendThread{Thread: turnName(key, a.Thread), ExpectedRev: a.Rev}
		for i := range a.Entries {
			draft := agent.Draft{Kind: agent.KindMessage, Payload: workload.MarkOf(c.entry(i))}
			if a.IDs {
				draft.ID = c.entry(i)
			}
			op.Entries = append(op.Entries, draft)
		}
		ops = append(ops, op)
	}
	for _, put := range c.Puts {
		op := &agent.PutCheckpoint{Key: turnName(key, put.Checkpoint), State: workload.MarkOf(c.By), IfRevision: put.Revision}
		if put.Pointer != nil {
			op.Thread = &agent.Pointer{Thread: turnName(key, put.Pointer.Thread), Rev: put.Pointer.Rev}
		}
		ops = append(ops, op)
	}
	return ops
}

func (c turnCommit) committed(result agent.Result) (committed, error) {
	out := committed{Index: result.Index}
	for _, r := range result.Results {
		switch r := r.(type) {
		case *agent.ThreadResult:
			seqs := make([]uint64, len(r.Entries))
			for i, stamp := range r.Entries {
				seqs[i] = stamp.Seq
			}
			out.Seqs = append(out.Seqs, seqs)
		case *agent.CheckpointResult:
			out.Revisions = append(out.Revisions, r.Revision)
		}
	}
	if len(out.Seqs) != len(c.Appends) || len(out.Revisions) != len(c.Puts) {
		return out, agent.Errorf(agent.CodeInternal, "%d appends and %d puts have %d results", len(c.Appends), len(c.Puts), len(result.Results))
	}
	return out, nil
}

// read reads all objects of a group at one index.
func (*turn) read(ctx context.Context, p *workload.Process, key string, ask turnAsk) (turnState, error) {
	reads := agent.Reads{Scope: p.Scope, Stale: ask.Stale}
	for _, thread := range threads {
		reads.Reads = append(reads.Reads, &agent.LoadEntries{Thread: turnName(key, thread), Tail: ask.Tail, Limit: agent.EntriesLimitMax})
	}
	for _, checkpoint := range checkpoints {
		reads.Reads = append(reads.Reads, &agent.GetCheckpoint{Key: turnName(key, checkpoint)})
	}
	return workload.Call(ctx, p, "read", key, false, ask, func(ctx context.Context) (turnState, error) {
		answers, err := p.Client.Read(ctx, reads)
		if err != nil {
			return turnState{}, err
		}
		return stateOf(key, answers)
	})
}
