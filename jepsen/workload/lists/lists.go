// Package lists drives commits that append to several threads of a scope at once, and reads of all of
// them. It checks that one order of all transactions explains them: strict serializability, as Elle
// judges list-append.
package lists

import (
	"context"
	"fmt"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// lists appends to some of the threads of a group, in one commit of several ops, and reads some of
// them at one index. A group is a key. Some commits expect the rev of a thread that a read has
// shown, so that they are refused when another one was first.
type lists struct {
	keys  *workload.Keys
	names atomic.Int64 // number of commits so far; numbers them
}

const (
	keysAtOnce = 2
	callsMax   = 400
	threads    = 5 // of a group
	tail       = 4 // entries of each thread that a read returns
)

// New returns workload lists.
func New() workload.Workload { return &lists{keys: workload.NewSharedKeys("l", keysAtOnce, callsMax)} }

func (*lists) Name() string { return "lists" }

func (*lists) About() string {
	return "commits that append to several threads at once, and reads of several: one order in real time explains them all (list-append, strict serializability)"
}

// commit is the input of a commit: an entry called Name at the end of each of Threads.
type commit struct {
	Name    string   `json:"name"`
	Threads []string `json:"threads"`
	Rev     *uint64  `json:"rev,omitempty"` // expected rev of the first one
}

// seen is a thread that a call left or found.
type seen struct {
	Thread string   `json:"thread"`
	Rev    uint64   `json:"rev"`
	Names  []string `json:"names,omitempty"` // of a read: the last entries, up to Rev
}

// answer is the answer of a call.
type answer struct {
	Index   uint64 `json:"index"`
	Threads []seen `json:"threads,omitempty"`
}

func (w *lists) Run(ctx context.Context, p *workload.Process) {
	revs := map[string]uint64{} // :: thread → rev in the last read of the process
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		some := some(p, key)
		if p.Rand.IntN(3) == 0 {
			if out, err := read(ctx, p, key, some); err == nil {
				for _, s := range out.Threads {
					revs[s.Thread] = s.Rev
				}
			}
			continue
		}
		in := commit{Name: workload.WriteName(p, w.names.Add(1)), Threads: some}
		if rev, known := revs[some[0]]; known && p.Rand.IntN(3) == 0 {
			in.Rev = &rev
		}
		write(ctx, p, key, in)
	}
}

// some returns some threads of a group, in random order.
func some(p *workload.Process, key string) (names []string) {
	for _, n := range p.Rand.Perm(threads)[:1+p.Rand.IntN(threads)] {
		names = append(names, fmt.Sprintf("%s-%d", key, n))
	}
	return names
}

func write(ctx context.Context, p *workload.Process, key string, in commit) {
	_, _ = workload.Call(ctx, p, workload.CallCommit, key, true, in, func(ctx context.Context) (answer, error) {
		c := agent.Commit{Scope: p.Scope}
		for i, thread := range in.Threads {
			op := &agent.AppendThread{Thread: thread, Entries: []agent.Draft{{Payload: workload.MarkOf(in.Name)}}}
			if i == 0 {
				op.ExpectedRev = in.Rev
			}
			c.Ops = append(c.Ops, op)
		}
		result, err := p.Client.Commit(ctx, c)
		if err != nil {
			return answer{}, err
		}
		out := answer{Index: result.Index}
		for _, r := range result.Results {
			one, ok := r.(*agent.ThreadResult)
			if !ok {
				return answer{}, agent.Errorf(agent.CodeInternal, "an append was answered with a %T", r)
			}
			out.Threads = append(out.Threads, seen{Thread: one.Thread.ID, Rev: one.Thread.Rev})
		}
		return out, nil
	})
}

func read(ctx context.Context, p *workload.Process, key string, names []string) (answer, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, names, func(ctx context.Context) (answer, error) {
		var reads []agent.Read
		for _, thread := range names {
			reads = append(reads, &agent.LoadEntries{Thread: thread, Tail: tail, Limit: agent.EntriesLimitMax})
		}
		index, found, err := workload.FindAll(ctx, p, reads...)
		if err != nil {
			return answer{}, err
		}
		out := answer{Index: index}
		for i, f := range found {
			one := seen{Thread: names[i]}
			if entries, ok := f.(*agent.Entries); ok {
				one.Rev = entries.Thread.Rev
				for _, e := range entries.Items {
					one.Names = append(one.Names, workload.NameIn(e.Payload))
				}
			}
			out.Threads = append(out.Threads, one)
		}
		return out, nil
	})
}

// Final reads all threads of each group.
func (w *lists) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		var all []string
		for n := range threads {
			all = append(all, fmt.Sprintf("%s-%d", key, n))
		}
		_, err := read(ctx, p, key, all)
		return err
	})
}
