// Package watch drives watches of threads, and checks that a watch delivers
// every entry once and in order.
package watch

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// watch has some processes append to threads, and now and then compact or
// delete one, while others follow them. A follower keeps one watch open for a
// while and asks it again and again for what came: each such poll is a call.
// Then it goes on in a new watch where the old one was cut.
type watch struct {
	keys    *workload.Keys
	began   atomic.Int64 // processes; one in three writes
	appends atomic.Int64 // made so far; numbers them
	watches atomic.Int64 // likewise
}

const (
	callsMax    = 500 // picks of a key; a follower's polls are not counted
	watchTail   = 3   // entries that a read lists
	pollMax     = 500 * time.Millisecond
	pollEntries = 64
)

// New returns workload watch.
func New() workload.Workload { return &watch{keys: workload.NewKeys("thread", 2, callsMax)} }

func (*watch) Name() string { return "watch" }

func (*watch) About() string {
	return "threads followed while they grow, are compacted and deleted: every entry once and in order, resumable anywhere, ended by the right event"
}

// watchAppend is an append of so many entries, called By.0, By.1, …
type watchAppend struct {
	By      string `json:"by"`
	Entries int    `json:"entries"`
	IDs     bool   `json:"ids,omitempty"` // chosen rather than generated
}

func (a watchAppend) name(at int) string { return fmt.Sprintf("%s.%d", a.By, at) }

// appended is where it went: into one incarnation, from a seq on.
type appended struct {
	Incarnation uint64 `json:"incarnation"`
	Seq         uint64 `json:"seq"`
	Rev         uint64 `json:"rev"` // after it
}

// loaded is a thread as it was read: its last entries, up to Rev. The
// zero value says that there is none.
type loaded struct {
	Incarnation uint64   `json:"incarnation,omitempty"`
	Rev         uint64   `json:"rev,omitempty"`
	Floor       uint64   `json:"floor,omitempty"`
	Entries     []string `json:"entries,omitempty"`
}

// watchPoll asks an open watch for what came. From and Incarnation are what
// the watch was opened with.
type watchPoll struct {
	Watch       int64  `json:"watch"`
	From        uint64 `json:"from"`
	Incarnation uint64 `json:"incarnation,omitempty"` // 0 for the one that is there
}

// polled is what came: entries with their seqs, or the watch's end.
type polled struct {
	Seqs    []uint64 `json:"seqs,omitempty"`
	Entries []string `json:"entries,omitempty"`
	End     string   `json:"end,omitempty"`   // endDeleted, endCompacted, endSilent, or the code of an error
	Floor   uint64   `json:"floor,omitempty"` // of endCompacted
}

const (
	endDeleted   = "event deleted"
	endCompacted = "event compacted"
	endSilent    = "nothing" // it ended without a word
)

func (w *watch) Run(ctx context.Context, p *workload.Process) {
	if w.began.Add(1)%3 == 0 {
		w.write(ctx, p)
		return
	}
	for workload.Pace(ctx, p) {
		w.follow(ctx, p, w.keys.Pick(p))
	}
}

// write appends to threads, and changes them otherwise now and then.
func (w *watch) write(ctx context.Context, p *workload.Process) {
	revs := map[string]uint64{} // as the process knows them
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch draw := p.Rand.IntN(100); {
		case draw < 85:
			if out, err := w.append(ctx, p, key); err == nil {
				revs[key] = out.Rev
			}
		case draw < 94:
			if out, err := w.load(ctx, p, key, watchTail); err == nil {
				revs[key] = out.Rev
			}
		case draw < 98:
			w.compact(ctx, p, key, p.Rand.Uint64N(revs[key]+1))
		default:
			w.delete(ctx, p, key)
		}
	}
}

// follow watches one thread for a while, in one or more watches.
func (w *watch) follow(ctx context.Context, p *workload.Process, key string) {
	there, err := w.load(ctx, p, key, watchTail)
	if err != nil {
		return
	}
	poll := watchPoll{From: there.Floor + p.Rand.Uint64N(there.Rev-there.Floor+1)}
	if p.Rand.IntN(3) > 0 {
		poll.Incarnation = there.Incarnation
	}
	for again := true; again; again = p.Rand.IntN(2) == 0 {
		life := time.Duration((0.2 + p.Rand.ExpFloat64()) * float64(6*time.Second))
		if p.Rand.IntN(5) == 0 {
			life += 2 * silenceMax // long enough to notice that nothing comes
		}
		ended := false
		if poll.From, ended = w.watch(ctx, p, key, poll, life); ended {
			return
		}
	}
}

// watch keeps one watch open for the duration life, and polls it. It returns the
// seq to go on from, and whether the watch ended by itself.
func (w *watch) watch(ctx context.Context, p *workload.Process, key string, poll watchPoll, life time.Duration) (next uint64, ended bool) {
	ctx, cut := context.WithTimeout(ctx, life)
	defer cut()
	poll.Watch = w.watches.Add(1)
	open := openWatch(ctx, p, agent.Watch{Scope: p.Scope, Thread: key, From: poll.From, Incarnation: poll.Incarnation})
	defer open.close()
	for next = poll.From; ctx.Err() == nil; {
		out := w.poll(ctx, p, key, poll, open)
		if n := len(out.Seqs); n > 0 {
			next = out.Seqs[n-1] + 1
		}
		if out.End != "" || !workload.Pace(ctx, p) {
			return next, out.End != ""
		}
	}
	return next, false
}

// Final reads every thread whole, and watches those that are there from the
// floor on. On the newest it waits for an entry that is yet to come.
func (w *watch) Final(ctx context.Context, p *workload.Process) error {
	all := w.keys.All()
	last := all[max(0, len(all)-watchedLast):]
	return workload.FinalReads(ctx, all, func(key string) error {
		there, err := w.load(ctx, p, key, 0)
		if err == nil && there.Incarnation > 0 {
			w.finish(ctx, p, key, there, slices.Contains(last, key))
		}
		return err
	})
}

// watchedLast is on how many threads Final waits for another entry.
const watchedLast = 6

// finish watches a thread until it has seen what is there, and, where more is
// set, an entry that is appended then.
func (w *watch) finish(ctx context.Context, p *workload.Process, key string, there loaded, more bool) {
	// One that nothing comes from is polled until the judge may call it silent.
	ctx, cut := context.WithTimeout(ctx, 2*silenceMax)
	defer cut()
	poll := watchPoll{Watch: w.watches.Add(1), From: there.Floor, Incarnation: there.Incarnation}
	open := openWatch(ctx, p, agent.Watch{Scope: p.Scope, Thread: key, From: poll.From, Incarnation: poll.Incarnation})
	defer open.close()
	for next := poll.From; ctx.Err() == nil; {
		if next >= there.Rev {
			if !more {
				return
			}
			more = false
			out, err := w.append(ctx, p, key)
			if err != nil {
				return
			}
			there.Rev = out.Rev
		}
		out := w.poll(ctx, p, key, poll, open)
		if n := len(out.Seqs); n > 0 {
			next = out.Seqs[n-1] + 1
		}
		if out.End != "" {
			return
		}
	}
}
