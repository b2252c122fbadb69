// Package watch drives watches of threads. It checks that a watch delivers every entry
// once and in order.
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

// watch lets some processes append to threads, and sometimes compact or delete one,
// while other processes follow the threads. A follower keeps one watch open for a
// while and polls it; each poll is a call. Afterwards it may continue in a new watch.
type watch struct {
	keys    *workload.Keys
	began   atomic.Int64 // number of processes so far; one in three writes
	appends atomic.Int64 // number of appends so far; numbers them
	watches atomic.Int64 // number of watches so far; numbers them
}

const (
	callsMax    = 500 // picks of a key; polls are not counted
	watchTail   = 3   // entries that a read returns
	pollMax     = 500 * time.Millisecond
	pollEntries = 64
)

// New returns workload watch.
func New() workload.Workload { return &watch{keys: workload.NewKeys("thread", 2, callsMax)} }

func (*watch) Name() string { return "watch" }

func (*watch) About() string {
	return "threads followed while they grow, are compacted and deleted: every entry once and in order, resumable anywhere, ended by the right event"
}

// watchAppend is the input of an append. Its entries are called By.0, By.1, …
type watchAppend struct {
	By      string `json:"by"`
	Entries int    `json:"entries"`
	IDs     bool   `json:"ids,omitempty"` // chosen ids, otherwise generated ones
}

func (a watchAppend) name(at int) string { return fmt.Sprintf("%s.%d", a.By, at) }

// appended is the answer of an append.
type appended struct {
	Incarnation uint64 `json:"incarnation"`
	Seq         uint64 `json:"seq"`
	Rev         uint64 `json:"rev"` // rev after the append
}

// loaded is the answer of a read: a thread's last entries, up to Rev. The zero value
// means that the thread does not exist.
type loaded struct {
	Incarnation uint64   `json:"incarnation,omitempty"`
	Rev         uint64   `json:"rev,omitempty"`
	Floor       uint64   `json:"floor,omitempty"`
	Entries     []string `json:"entries,omitempty"`
}

// watchPoll is the input of a poll of an open watch. The watch was opened with From
// and Incarnation.
type watchPoll struct {
	Watch       int64  `json:"watch"`
	From        uint64 `json:"from"`
	Incarnation uint64 `json:"incarnation,omitempty"` // 0 means the current one
}

// polled is the answer of a poll: entries with their seqs, or the watch's end.
type polled struct {
	Seqs    []uint64 `json:"seqs,omitempty"`
	Entries []string `json:"entries,omitempty"`
	End     string   `json:"end,omitempty"`   // endDeleted, endCompacted, endSilent, or the code of an error
	Floor   uint64   `json:"floor,omitempty"` // of endCompacted
}

const (
	endDeleted   = "event deleted"
	endCompacted = "event compacted"
	endSilent    = "nothing" // it ended without an event or an error
)

func (w *watch) Run(ctx context.Context, p *workload.Process) {
	if w.began.Add(1)%3 == 0 && !p.Via.Follows() {
		w.write(ctx, p)
		return
	}
	for workload.Pace(ctx, p) {
		w.follow(ctx, p, w.keys.Pick(p))
	}
}

// write appends to threads, and sometimes reads, compacts or deletes one.
func (w *watch) write(ctx context.Context, p *workload.Process) {
	revs := map[string]uint64{} // :: key → rev in the last answer to the process
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
	if p.Rand.IntN(3) > 0 && p.Via != workload.ViaCtl { // which takes none
		poll.Incarnation = there.Incarnation
	}
	for again := true; again; again = p.Rand.IntN(2) == 0 {
		openFor := time.Duration((0.2 + p.Rand.ExpFloat64()) * float64(6*time.Second))
		if p.Rand.IntN(5) == 0 {
			openFor += 2 * silenceMax // long enough for silenceMax to pass
		}
		ended := false
		if poll.From, ended = w.watch(ctx, p, key, poll, openFor); ended {
			return
		}
	}
}

// watch keeps one watch open for the duration openFor and polls it. It returns the seq
// to continue from, and whether the watch ended by itself.
func (w *watch) watch(ctx context.Context, p *workload.Process, key string, poll watchPoll, openFor time.Duration) (next uint64, ended bool) {
	ctx, cut := context.WithTimeout(ctx, openFor)
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

// Final reads every whole thread, and watches the existing ones from the floor on. On
// the newest threads it also waits for a new entry.
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

// watchedLast is the number of threads on which Final waits for a new entry.
const watchedLast = 6

// finish watches a thread until it has seen all entries and, if more is set, a new
// entry that finish appends.
func (w *watch) finish(ctx context.Context, p *workload.Process, key string, there loaded, more bool) {
	// A watch without events is polled until the checker may call it silent.
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
