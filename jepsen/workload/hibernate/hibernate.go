// Package hibernate drives agents that several processes hibernate and resume,
// and checks that a resumed agent has its newest acknowledged checkpoint, or a
// later one, and just the entries that belong to it.
package hibernate

import (
	"context"
	"fmt"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// hibernate has several processes thaw the same agents, let them live for a
// while, and hibernate them. A key is an agent: a checkpoint and a thread of
// that name. Now and then one "crashes" after it appended, before it put its
// checkpoint, so that the journal is ahead; and now and then one compacts the
// journal, up to where the checkpoint points or further than it may.
type hibernate struct {
	keys  *workload.Keys
	calls atomic.Int64 // hibernations and appends made so far; numbers them
}

const (
	callsMax = 150 // picks of a key, which are several calls each
	tail     = 3   // entries that a thaw mostly asks for
)

// New returns workload hibernate.
func New() workload.Workload { return &hibernate{keys: workload.NewKeys("agent", 3, callsMax)} }

func (*hibernate) Name() string { return "hibernate" }

func (*hibernate) About() string {
	return "agents hibernated and thawed by several processes: a thaw sees the last acknowledged checkpoint or a newer one, with just its entries"
}

// hibernation is what an agent was when it was hibernated. Entries are named;
// the names of the new ones, which come last, begin with By.
type hibernation struct {
	By       string   `json:"by"`
	Revision *uint64  `json:"revision,omitempty"` // expected
	From     uint64   `json:"from"`               // seq of the first of Entries
	Entries  []string `json:"entries,omitempty"`
	New      int      `json:"new,omitempty"`
	IDs      bool     `json:"ids,omitempty"` // the new ones have chosen ids rather than generated ones
}

// rev is that of the agent's thread, as the agent knows it.
func (h hibernation) rev() uint64 { return h.From + uint64(len(h.Entries)) }

// hibernated is where it went.
type hibernated struct {
	Revision uint64 `json:"revision"`
	Rev      uint64 `json:"rev"` // of the pointer
}

// thawing is what a thaw asks for.
type thawing struct {
	Tail     uint64 `json:"tail,omitempty"`     // 0 means all entries
	Revision uint64 `json:"revision,omitempty"` // 0 means the current one
}

// thawed is what a thaw found; the zero value where there was nothing.
type thawed struct {
	Revision uint64   `json:"revision,omitempty"`
	By       string   `json:"by,omitempty"`
	Rev      uint64   `json:"rev,omitempty"`     // of the pointer
	Entries  []string `json:"entries,omitempty"` // the last ones up to Rev
	Floor    uint64   `json:"floor,omitempty"`   // of the thread
	Ahead    uint64   `json:"ahead,omitempty"`
}

// caughtUp is what a thread has from a seq on, or from its floor on.
type caughtUp struct {
	Rev     uint64   `json:"rev"`
	Floor   uint64   `json:"floor,omitempty"`
	Entries []string `json:"entries,omitempty"`
}

// keptRevision is a row of a history list.
type keptRevision struct {
	Revision uint64 `json:"revision"`
	Rev      uint64 `json:"rev"`
}

// life is an agent as one process knows it.
type life struct {
	key      string
	revision uint64
	rev      uint64
	entries  []lived // the newest, up to rev; maybe not all
}

type lived struct{ name, id string } // id is "" where it was generated and not read yet

func (w *hibernate) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch p.Rand.IntN(10) {
		case 0:
			_, _, _ = w.thaw(ctx, p, key, thawing{})
		case 1:
			w.history(ctx, p, key)
		case 2:
			w.compact(ctx, p, key)
		default:
			w.live(ctx, p, key)
		}
	}
}

// Final thaws every agent whole, and lists its history.
func (w *hibernate) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, _, err := w.thaw(ctx, p, key, thawing{})
		if err == nil {
			w.history(ctx, p, key)
		}
		return err
	})
}

// live thaws an agent and hibernates it again, perhaps several times.
func (w *hibernate) live(ctx context.Context, p *workload.Process, key string) {
	found, entries, err := w.thaw(ctx, p, key, thawing{Tail: tail})
	if err != nil {
		return
	}
	l := &life{key: key, revision: found.Revision, rev: found.Rev, entries: entries}
	if found.Revision == 0 || found.Ahead > 0 {
		if !w.catchUp(ctx, p, l) {
			return
		}
	}
	for range 1 + p.Rand.IntN(2) {
		h := w.draw(p, l)
		if p.Rand.IntN(8) == 0 && h.New > 0 {
			if !w.append(ctx, p, l, h) || p.Rand.IntN(2) == 0 {
				return // crashed before it put its checkpoint
			}
			h.New = 0 // they are there
		}
		if !w.hibernate(ctx, p, l, h) || !workload.Pace(ctx, p) {
			return
		}
	}
}

// draw makes up how an agent that is awake goes to sleep.
func (w *hibernate) draw(p *workload.Process, l *life) hibernation {
	h := hibernation{By: workload.WriteName(p, w.calls.Add(1)), IDs: p.Rand.IntN(4) == 0}
	if p.Rand.IntN(4) > 0 {
		revision := l.revision
		h.Revision = &revision
	}
	overlap := min(len(l.entries), p.Rand.IntN(3))
	h.From = l.rev - uint64(overlap)
	for _, e := range l.entries[len(l.entries)-overlap:] {
		h.Entries = append(h.Entries, e.name)
	}
	h.New = p.Rand.IntN(3)
	for i := range h.New {
		h.Entries = append(h.Entries, fmt.Sprintf("%s.%d", h.By, i))
	}
	return h
}

// drafts are the entries of h as l knows them.
func (h hibernation) drafts(l *life) []agent.Draft {
	old := len(h.Entries) - h.New
	drafts := make([]agent.Draft, len(h.Entries))
	for i, name := range h.Entries {
		drafts[i] = agent.Draft{Kind: agent.KindMessage, Payload: workload.MarkOf(name)}
		switch {
		case i < old:
			drafts[i].ID = l.entries[len(l.entries)-old+i].id
		case h.IDs:
			drafts[i].ID = name
		}
	}
	return drafts
}

// grown is the agent after h, of which it now has the new entries.
func (l *life) grown(h hibernation) {
	for _, name := range h.Entries[len(h.Entries)-h.New:] {
		e := lived{name: name}
		if h.IDs {
			e.id = name
		}
		l.entries = append(l.entries, e)
	}
	l.rev = h.rev()
}
