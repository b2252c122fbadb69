// Package appends drives appends to threads, with and without an expected rev,
// and checks the order of their entries.
package appends

import (
	"context"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// appends writes entries to threads, with and without an expected rev. It reads whole
// threads, their tails, older revs, and their metadata.
//
// A thread is a list that only grows, and every entry has a unique id, so reads show
// the order of all appends: see workload.Journal.
type appends struct {
	keys  *workload.Keys
	calls atomic.Int64 // number of appends so far; numbers them
}

const (
	keys        = 2   // threads that a group of processes uses at the same time
	appendCalls = 200 // calls on one thread
	entriesMax  = 4   // entries of one call
	tailMax     = 8
	againOne    = 10 // one call in againOne repeats the last append with the same entry ids
)

// New returns workload append.
func New() workload.Workload { return &appends{keys: workload.NewKeys("t", keys, appendCalls)} }

func (*appends) Name() string { return "append" }

func (*appends) About() string {
	return "rev-checked and plain appends, reads whole, of tails and as of older revs: one order, no gap, no duplicate, nothing lost, hash chain recomputed"
}

// appendIn is the input of an append. By and the position determine the contents of
// the entries: see id and chained.
type appendIn struct {
	By      int64   `json:"by"`
	Entries int     `json:"entries"`
	Again   bool    `json:"again,omitempty"`   // a repetition: the entries may exist already
	Stamped bool    `json:"stamped,omitempty"` // the entries get the log's time
	Rev     *uint64 `json:"rev,omitempty"`     // expected rev
	Head    string  `json:"head,omitempty"`    // expected head
}

// readIn selects the entries of a read: all, the last Tail, or all as of rev At.
type readIn struct {
	Tail uint64  `json:"tail,omitempty"`
	At   *uint64 `json:"at,omitempty"`
}

// appendOut is the output of any call: the thread's state after it, and the entries
// that it showed.
type appendOut struct {
	Refused     bool     `json:"refused,omitempty"` // conflict; Rev and Head are from the error
	Missing     bool     `json:"missing,omitempty"` // the thread does not exist
	Incarnation uint64   `json:"incarnation,omitempty"`
	Rev         uint64   `json:"rev"`
	Head        string   `json:"head,omitempty"`
	From        uint64   `json:"from,omitempty"`   // seq of the first of IDs
	IDs         []string `json:"ids,omitempty"`    // in order of their seqs, which start at From
	Stamps      []int64  `json:"stamps,omitempty"` // times of those of IDs that have the log's time
	Wrong       string   `json:"wrong,omitempty"`  // content that no call wrote, or seqs that are not consecutive
}

func (w *appends) Run(ctx context.Context, p *workload.Process) {
	known := map[string]appendOut{} // :: key → the last answer that the process got
	last := map[string]appendIn{}   // :: key → its last append, unless that was refused
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		if again, made := last[key]; made && p.Rand.IntN(againOne) == 0 {
			_, _ = w.send(ctx, p, key, again)
			continue
		}
		in, out, err := w.next(ctx, p, key, known[key])
		if err == nil {
			known[key] = out
		}
		if in.By != 0 && !out.Refused && (err == nil || agent.OutcomeOf(err) == agent.Undecided) {
			last[key] = in.again()
		}
	}
}

// next makes a call. It expects the state of the process's last answer. It returns the
// input if the call is an append.
func (w *appends) next(ctx context.Context, p *workload.Process, key string, known appendOut) (in appendIn, out appendOut, err error) {
	switch kind := p.Rand.IntN(20); {
	case kind < 10:
		in = w.draw(p, known)
		out, err = w.send(ctx, p, key, in)
	case kind < 13:
		out, err = readThread(ctx, p, key, readIn{})
	case kind < 16:
		out, err = readThread(ctx, p, key, readIn{Tail: 1 + p.Rand.Uint64N(tailMax)})
	case kind < 18 && known.Rev > 0:
		out, err = readThread(ctx, p, key, readIn{At: &known.Rev})
		if err == nil && !out.Refused {
			out = known // the read shows an older rev
		}
	default:
		out, err = workload.Call(ctx, p, workload.CallMeta, key, false, struct{}{}, func(ctx context.Context) (appendOut, error) {
			return threadMeta(p.Client.In(p.Scope).GetThread(ctx, key))
		})
	}
	return in, out, err
}

// draw returns a new append of a few entries.
func (w *appends) draw(p *workload.Process, known appendOut) appendIn {
	in := appendIn{By: w.calls.Add(1), Entries: 1 + p.Rand.IntN(entriesMax), Stamped: p.Rand.IntN(3) == 0}
	switch p.Rand.IntN(10) {
	case 0:
		in.Head = known.Head
	case 1, 2, 3, 4:
		in.Rev = &known.Rev
	}
	return in
}

// again returns the same append without its expectations. The store must leave
// existing entries alone.
func (in appendIn) again() appendIn {
	in.Rev, in.Head, in.Again = nil, "", true
	return in
}

func (w *appends) send(ctx context.Context, p *workload.Process, key string, in appendIn) (appendOut, error) {
	return workload.Call(ctx, p, workload.CallAppend, key, true, in, func(ctx context.Context) (appendOut, error) {
		return appended(p.Client.In(p.Scope).Append(ctx, in.op(key)))
	})
}

func readThread(ctx context.Context, p *workload.Process, key string, in readIn) (appendOut, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, in, func(ctx context.Context) (appendOut, error) {
		return loaded(p.Client.In(p.Scope).Load(ctx, in.op(key)))
	})
}

// Final reads every thread whole.
func (w *appends) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := readThread(ctx, p, key, readIn{})
		return err
	})
}

// answer is a decoded call of this workload.
type answer struct {
	op   history.Op
	in   appendIn // of an append
	read readIn   // of a read
	out  appendOut
}

func answerTo(op history.Op) (a answer, err error) {
	a.op = op
	switch op.Call {
	case workload.CallAppend:
		a.in, err = history.Decode[appendIn](op.In)
	case workload.CallRead:
		a.read, err = history.Decode[readIn](op.In)
	}
	if err == nil && op.Outcome == history.OK {
		a.out, err = history.Decode[appendOut](op.Out)
	}
	return a, err
}
