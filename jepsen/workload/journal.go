package workload

import (
	"math"
	"slices"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// Journal combines what the calls on one thread show about it, and finds
// contradictions. A thread is a list that only grows, so an entry that was seen at a
// seq must always be there. All calls are compared with one list, so the work is
// linear in the size of the reads.
type Journal struct {
	Key      string
	Findings *Findings

	Writers map[string]*Written // :: entry's name → the append that wrote it
	Slots   []Slot              // :: seq → the entry at it
	Where   map[string]uint64   // :: entry's name → its seq
	seen    []sight
	placed  []model.Placed // Tag is the index in seen
}

// Written is one append, with all attempts of it.
type Written struct {
	Ops     []history.Op
	Invoke  time.Duration // of the first attempt
	Outcome history.Outcome
	Entries []string // their names, in order
	first   *uint64  // the seq of the first entry, if known
}

// Slot is a seq of the thread.
type Slot struct {
	Entry string     // "" if no call shows the entry
	By    history.Op // the first call that showed it
}

// sight is a call that shows the thread's rev.
type sight struct {
	op  history.Op
	rev uint64
}

// Unbounded is larger than the rev of any thread.
const Unbounded = math.MaxUint64

// NewJournal returns an empty journal of the thread key. Findings go to f.
func NewJournal(key string, f *Findings) *Journal {
	return &Journal{Key: key, Findings: f, Writers: map[string]*Written{}, Where: map[string]uint64{}}
}

// Write adds an append to the journal.
func (j *Journal) Write(w *Written) {
	for _, entry := range w.Entries {
		j.Writers[entry] = w
	}
}

// Stood records that op found the thread at rev before or later, and left it at rev
// after.
func (j *Journal) Stood(op history.Op, before, after uint64) {
	j.placed = append(j.placed, model.Placed{
		Span:   model.Span{Invoke: op.Invoke, Return: op.Return},
		Before: model.Position{Version: before}, After: model.Position{Version: after}, Tag: len(j.seen),
	})
	j.seen = append(j.seen, sight{op: op, rev: after})
}

// Holds records the entries that op shows, the first of them at from.
func (j *Journal) Holds(op history.Op, from uint64, entries []string) {
	for i, entry := range entries {
		seq := from + uint64(i)
		if seq >= slotsMax {
			j.Findings.Add("impossible seq", j.Key, []history.Op{op}, "call %d says that entry %s is at seq %d", op.ID, entry, seq)
			return
		}
		for uint64(len(j.Slots)) <= seq {
			j.Slots = append(j.Slots, Slot{})
		}
		at := &j.Slots[seq]
		switch {
		case at.Entry == entry:
			continue
		case at.Entry != "":
			j.differ(op, seq, entry)
			continue
		}
		*at = Slot{Entry: entry, By: op}
		j.judgeEntry(op, seq, entry)
	}
}

// slotsMax bounds a seq: no run writes so many entries.
const slotsMax = 1 << 24

// differ adds the finding that two calls disagree about a seq.
func (j *Journal) differ(op history.Op, seq uint64, entry string) {
	other := j.Slots[seq]
	rule := "reads disagree"
	switch acked := other.By.Call != CallRead; {
	case acked && op.Call != CallRead:
		rule = "two appends at one seq"
	case acked || op.Call != CallRead:
		rule = "lost append"
	}
	j.Findings.Add(rule, j.Key, []history.Op{other.By, op}, "call %d says that entry %s is at seq %d, and call %d that %s is",
		other.By.ID, other.Entry, seq, op.ID, entry)
}

// judgeEntry judges an entry when it is first seen at a seq.
func (j *Journal) judgeEntry(op history.Op, seq uint64, entry string) {
	if before, twice := j.Where[entry]; twice {
		j.Findings.Add("duplicate entry", j.Key, []history.Op{j.Slots[before].By, op}, "entry %s is at seq %d and at seq %d", entry, before, seq)
		return
	}
	j.Where[entry] = seq
	w := j.Writers[entry]
	switch {
	case w == nil:
		j.Findings.Add("entry from nowhere", j.Key, []history.Op{op}, "call %d saw entry %s at seq %d, which no call wrote", op.ID, entry, seq)
		return
	case w.Outcome == history.Refused:
		j.Findings.Add("refused append applied", j.Key, append(slices.Clone(w.Ops), op), "call %d was refused, and call %d saw its entry %s at seq %d",
			w.Ops[0].ID, op.ID, entry, seq)
	}
	place := uint64(slices.Index(w.Entries, entry))
	if first := seq - place; w.first == nil && place <= seq {
		w.first = &first
		if w.Outcome == history.Unknown || len(w.Ops) > 1 { // the effect is known now: it came no sooner than the first invocation
			effect := w.Ops[0]
			effect.Invoke, effect.Return = w.Invoke, history.Never
			j.Stood(effect, first, first)
		}
		return
	}
	if w.first == nil || *w.first+place != seq {
		j.Findings.Add("torn append", j.Key, append(slices.Clone(w.Ops), op), "entry %s, number %d of its append, is at seq %d, and the others are not beside it", entry, place+1, seq)
	}
}

// Judge ends the judgement after all calls were added.
func (j *Journal) Judge() {
	j.judgeWhole()
	for _, b := range model.GoneBack(j.placed) {
		earlier, later := j.seen[b.Earlier.Tag], j.seen[b.Later.Tag]
		rule := "stale answer"
		switch {
		case later.op.Outcome == history.Unknown:
			rule = "seen before it was written"
		case b.Forever:
			rule = "lost append"
		case later.op.Call == CallRead || later.op.Call == CallMeta:
			rule = "stale read"
		}
		j.Findings.Add(rule, j.Key, []history.Op{earlier.op, later.op}, "call %d had returned and seen rev %d, and call %d, invoked later, found at most rev %d",
			earlier.op.ID, b.Earlier.After.Version, later.op.ID, b.Later.Before.Version)
	}
}

// judgeWhole checks that each append is whole or absent, and that no call saw the
// thread in the middle of one.
func (j *Journal) judgeWhole() {
	inside := map[uint64]*Written{} // :: rev inside an append, which no call may see → the append
	judged := map[*Written]bool{}
	for _, at := range j.Slots {
		w := j.Writers[at.Entry]
		if w == nil || w.first == nil || judged[w] {
			continue
		}
		judged[w] = true
		for place := range w.Entries {
			seq := *w.first + uint64(place)
			if place > 0 {
				inside[seq] = w
			}
			if seq < uint64(len(j.Slots)) && j.Slots[seq].Entry != "" && j.Slots[seq].Entry != w.Entries[place] {
				j.Findings.Add("torn append", j.Key, append(slices.Clone(w.Ops), j.Slots[seq].By), "entry %s should be at seq %d, beside the others of its append, and %s is",
					w.Entries[place], seq, j.Slots[seq].Entry)
			}
		}
	}
	for _, s := range j.seen {
		if w := inside[s.rev]; w != nil {
			j.Findings.Add("torn append", j.Key, append(slices.Clone(w.Ops), s.op), "call %d saw rev %d, in the middle of the %d entries from seq %d on of one append",
				s.op.ID, s.rev, len(w.Entries), *w.first)
		}
	}
}
