package workload

import (
	"math"
	"slices"
	"time"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// journal puts together what the calls on one thread say of it, and finds
// where they contradict each other. A thread is a list that only grows, so
// what was seen at a seq must be there for ever, and all that any call says
// can be held against one list: the work is linear in what was read.
type journal struct {
	key      string
	findings *findings

	writers map[string]*written // :: entry's name → who wrote it
	slots   []slot              // :: seq → what is there
	where   map[string]uint64   // :: entry's name → its seq
	seen    []sight
	placed  []model.Placed // Tag is the place in seen
}

// written is one append, over all attempts at it.
type written struct {
	ops     []history.Op
	invoke  time.Duration // of the first
	outcome history.Outcome
	entries []string // their names, in order
	first   *uint64  // the seq of the first of them, where that is known
}

// slot is a seq of the thread.
type slot struct {
	entry string     // "" where no call says what is there
	by    history.Op // the first that said it
}

// sight is a call that tells where the thread stood.
type sight struct {
	op  history.Op
	rev uint64
}

// unbounded is a rev that no thread comes to.
const unbounded = math.MaxUint64

func newJournal(key string, f *findings) *journal {
	return &journal{key: key, findings: f, writers: map[string]*written{}, where: map[string]uint64{}}
}

// write adds an append.
func (j *journal) write(w *written) {
	for _, entry := range w.entries {
		j.writers[entry] = w
	}
}

// stood notes that op found the thread at rev before or later, and left it at
// rev after.
func (j *journal) stood(op history.Op, before, after uint64) {
	j.placed = append(j.placed, model.Placed{
		Span:   model.Span{Invoke: op.Invoke, Return: op.Return},
		Before: model.Position{Version: before}, After: model.Position{Version: after}, Tag: len(j.seen),
	})
	j.seen = append(j.seen, sight{op: op, rev: after})
}

// holds notes that op says which entries are at from and on.
func (j *journal) holds(op history.Op, from uint64, entries []string) {
	for i, entry := range entries {
		seq := from + uint64(i)
		if seq >= slotsMax {
			j.findings.add("impossible seq", j.key, []history.Op{op}, "call %d says that entry %s is at seq %d", op.ID, entry, seq)
			return
		}
		for uint64(len(j.slots)) <= seq {
			j.slots = append(j.slots, slot{})
		}
		at := &j.slots[seq]
		switch {
		case at.entry == entry:
			continue
		case at.entry != "":
			j.differ(op, seq, entry)
			continue
		}
		*at = slot{entry: entry, by: op}
		j.judgeEntry(op, seq, entry)
	}
}

// slotsMax bounds a thread: a seq past it was made up.
const slotsMax = 1 << 24

// differ adds the finding that two calls disagree about a seq.
func (j *journal) differ(op history.Op, seq uint64, entry string) {
	other := j.slots[seq]
	rule := "reads disagree"
	switch acked := other.by.Call != callRead; {
	case acked && op.Call != callRead:
		rule = "two appends at one seq"
	case acked || op.Call != callRead:
		rule = "lost append"
	}
	j.findings.add(rule, j.key, []history.Op{other.by, op}, "call %d says that entry %s is at seq %d, and call %d that %s is",
		other.by.ID, other.entry, seq, op.ID, entry)
}

// judgeEntry judges an entry that was seen for the first time at a seq.
func (j *journal) judgeEntry(op history.Op, seq uint64, entry string) {
	if before, twice := j.where[entry]; twice {
		j.findings.add("duplicate entry", j.key, []history.Op{j.slots[before].by, op}, "entry %s is at seq %d and at seq %d", entry, before, seq)
		return
	}
	j.where[entry] = seq
	w := j.writers[entry]
	switch {
	case w == nil:
		j.findings.add("entry from nowhere", j.key, []history.Op{op}, "call %d saw entry %s at seq %d, which nobody wrote", op.ID, entry, seq)
		return
	case w.outcome == history.Refused:
		j.findings.add("refused append applied", j.key, append(slices.Clone(w.ops), op), "call %d was refused, and call %d saw its entry %s at seq %d",
			w.ops[0].ID, op.ID, entry, seq)
	}
	place := uint64(slices.Index(w.entries, entry))
	if first := seq - place; w.first == nil && place <= seq {
		w.first = &first
		if w.outcome == history.Unknown || len(w.ops) > 1 { // its effect is known now: it came no sooner than it was asked for
			effect := w.ops[0]
			effect.Invoke, effect.Return = w.invoke, history.Never
			j.stood(effect, first, first)
		}
		return
	}
	if w.first == nil || *w.first+place != seq {
		j.findings.add("torn append", j.key, append(slices.Clone(w.ops), op), "entry %s, number %d of its append, is at seq %d, and the others are not beside it", entry, place+1, seq)
	}
}

// judge ends the judgement, once all calls were added.
func (j *journal) judge() {
	j.judgeWhole()
	for _, b := range model.GoneBack(j.placed) {
		earlier, later := j.seen[b.Earlier.Tag], j.seen[b.Later.Tag]
		rule := "stale answer"
		switch {
		case later.op.Outcome == history.Unknown:
			rule = "seen before it was written"
		case b.Forever:
			rule = "lost append"
		case later.op.Call == callRead || later.op.Call == callMeta:
			rule = "stale read"
		}
		j.findings.add(rule, j.key, []history.Op{earlier.op, later.op}, "call %d had returned and seen rev %d, and call %d, invoked later, found at most rev %d",
			earlier.op.ID, b.Earlier.After.Version, later.op.ID, b.Later.Before.Version)
	}
}

// judgeWhole: an append that is there at all is there whole, and nobody saw
// the thread in the middle of it.
func (j *journal) judgeWhole() {
	inside := map[uint64]*written{} // :: rev that no thread is ever at → the append that makes it so
	judged := map[*written]bool{}
	for _, at := range j.slots {
		w := j.writers[at.entry]
		if w == nil || w.first == nil || judged[w] {
			continue
		}
		judged[w] = true
		for place := range w.entries {
			seq := *w.first + uint64(place)
			if place > 0 {
				inside[seq] = w
			}
			if seq < uint64(len(j.slots)) && j.slots[seq].entry != "" && j.slots[seq].entry != w.entries[place] {
				j.findings.add("torn append", j.key, append(slices.Clone(w.ops), j.slots[seq].by), "entry %s should be at seq %d, beside the others of its append, and %s is",
					w.entries[place], seq, j.slots[seq].entry)
			}
		}
	}
	for _, s := range j.seen {
		if w := inside[s.rev]; w != nil {
			j.findings.add("torn append", j.key, append(slices.Clone(w.ops), s.op), "call %d saw rev %d, in the middle of the %d entries from seq %d on of one append",
				s.op.ID, s.rev, len(w.entries), *w.first)
		}
	}
}
