// Package hibernate drives agents that several processes hibernate and resume. It
// checks that a resumed agent has its newest acknowledged checkpoint, or a later one,
// with exactly its entries.
package hibernate

import (
	"context"
	"fmt"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// hibernate lets several processes thaw the same agents, use them for a while, and
// hibernate them. A key is an agent: a checkpoint and a thread of that name. Sometimes
// a process "crashes" after an append and before it puts its checkpoint, so that the
// thread is ahead. Sometimes a process compacts the thread, up to the checkpoint's
// pointer or further than allowed.
type hibernate struct {
	keys  *workload.Keys
	calls atomic.Int64 // number of hibernations and appends so far; numbers them
}

const (
	callsMax = 150 // picks of a key; a pick makes several calls
	tail     = 3   // entries that most thaws request
)

// New returns workload hibernate.
func New() workload.Workload { return &hibernate{keys: workload.NewKeys("agent", 3, callsMax)} }

func (*hibernate) Name() string { return "hibernate" }

func (*hibernate) About() string {
	return "agents hibernated and thawed by several processes: a thaw sees the last acknowledged checkpoint or a newer one, with just its entries"
}

// hibernation is the state of an agent when it was hibernated. Entries have names; the
// new ones are last, and their names begin with By.
type hibernation struct {
	By       string   `json:"by"`
	Revision *uint64  `json:"revision,omitempty"` // expected revision
	From     uint64   `json:"from"`               // seq of the first of Entries
	Entries  []string `json:"entries,omitempty"`
	New      int      `json:"new,omitempty"`
	IDs      bool     `json:"ids,omitempty"` // the new entries have chosen ids instead of generated ones
}

// rev returns the rev of the agent's thread, as the agent knows it.
func (h hibernation) rev() uint64 { return h.From + uint64(len(h.Entries)) }

// hibernated is the answer of a hibernation.
type hibernated struct {
	Revision uint64 `json:"revision"`
	Rev      uint64 `json:"rev"` // of the pointer
}

// thawing is the input of a thaw.
type thawing struct {
	Tail     uint64 `json:"tail,omitempty"`     // 0 means all entries
	Revision uint64 `json:"revision,omitempty"` // 0 means the current one
}

// thawed is the answer of a thaw; the zero value if the agent does not exist.
type thawed struct {
	Revision uint64   `json:"revision,omitempty"`
	By       string   `json:"by,omitempty"`
	Rev      uint64   `json:"rev,omitempty"`     // of the pointer
	Entries  []string `json:"entries,omitempty"` // the last ones up to Rev
	Floor    uint64   `json:"floor,omitempty"`   // of the thread
	Ahead    uint64   `json:"ahead,omitempty"`
}

// caughtUp is the entries of a thread from a seq on, or from its floor on.
type caughtUp struct {
	Rev     uint64   `json:"rev"`
	Floor   uint64   `json:"floor,omitempty"`
	Entries []string `json:"entries,omitempty"`
}

// keptRevision is a row of the checkpoint history.
type keptRevision struct {
	Revision uint64 `json:"revision"`
	Rev      uint64 `json:"rev"`
}

// knownAgent is an agent as one process knows it.
type knownAgent struct {
	key      string
	revision uint64
	rev      uint64
	entries  []knownEntry // the newest, up to rev; possibly not all
}

type knownEntry struct{ name, id string } // id is "" if it was generated and not read yet

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

// Final thaws every agent with all entries, and lists its history.
func (w *hibernate) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, _, err := w.thaw(ctx, p, key, thawing{})
		if err == nil {
			w.history(ctx, p, key)
		}
		return err
	})
}

// live thaws an agent and hibernates it again, sometimes twice.
func (w *hibernate) live(ctx context.Context, p *workload.Process, key string) {
	found, entries, err := w.thaw(ctx, p, key, thawing{Tail: tail})
	if err != nil {
		return
	}
	l := &knownAgent{key: key, revision: found.Revision, rev: found.Rev, entries: entries}
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
			h.New = 0 // they were appended
		}
		if !w.hibernate(ctx, p, l, h) || !workload.Pace(ctx, p) {
			return
		}
	}
}

// draw returns the next hibernation of a resumed agent.
func (w *hibernate) draw(p *workload.Process, l *knownAgent) hibernation {
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

// drafts returns the entries of h, with the ids that l knows.
func (h hibernation) drafts(l *knownAgent) []agent.Draft {
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

// grown updates the agent after h, whose new entries it now has.
func (l *knownAgent) grown(h hibernation) {
	for _, name := range h.Entries[len(h.Entries)-h.New:] {
		e := knownEntry{name: name}
		if h.IDs {
			e.id = name
		}
		l.entries = append(l.entries, e)
	}
	l.rev = h.rev()
}
