package erase

import (
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/history"
)

// judgeRead checks that a read finds all writes since the newest erasure, and none
// from before it.
func (e *erasures) judgeRead(r eraseOp) {
	erased, shown := e.newestErasure(r.out.Index)
	for _, name := range r.out.names() {
		w := e.writes[name]
		switch {
		case w == nil || w.Invoke > r.Return:
			e.findings.Add("from nowhere", e.key, []history.Op{r.Op}, "call %d found something of %s, which no call wrote", r.ID, name)
		case w.Outcome == history.Refused:
			e.findings.Add("refused but applied", e.key, []history.Op{w.Op, r.Op}, "call %d was refused, and call %d found something of it", w.ID, r.ID)
		case w.seenBy < erased:
			e.findings.Add("erased and still there", e.key, []history.Op{w.witness.Op, shown, r.Op}, "call %d found something of write %s, which was there at index %d; the agent was erased at index %d, as call %d shows",
				r.ID, name, w.seenBy, erased, shown.ID)
		}
	}
	found := r.out.sets()
	for _, name := range e.names {
		e.judgeWhole(r, e.writes[name], found, erased)
	}
	e.judgeHead(r)
}

// eraseFound is the result of a read, by the names of writes.
type eraseFound struct {
	entries, memories, recalled, listed map[string]bool
	sessions                            map[string]uint64
	paged                               bool // there may be more sessions than were listed
	listedPart                          bool // there are more memories than were listed
}

func (s *eraseSeen) sets() eraseFound {
	set := func(names []string) map[string]bool {
		all := make(map[string]bool, len(names))
		for _, name := range names {
			all[name] = true
		}
		return all
	}
	total := uint64(0)
	for _, n := range s.Sessions {
		total += n
	}
	return eraseFound{
		entries: set(s.Thread), memories: set(s.Memories), recalled: set(s.Recalled), listed: set(s.Listed),
		sessions: s.Sessions, paged: total >= agent.ListLimitMax, listedPart: s.ListedPart,
	}
}

// judgeWhole checks that a read finds all parts of a write or none. It must find a write
// that was there at an earlier index if no erasure can have erased it.
func (e *erasures) judgeWhole(r eraseOp, w *eraseWrite, found eraseFound, erased uint64) {
	there, missing := found.parts(w.in)
	if there > 0 && missing != "" {
		e.findings.Add("half of a write", e.key, []history.Op{w.Op, r.Op}, "call %d found something of write %s, and not its %s", r.ID, w.in.Name, missing)
		return
	}
	if missing == "" || w.seenBy == 0 || w.seenBy > r.out.Index || erased >= w.seenBy || e.mayBeErased(w, r) {
		return
	}
	calls := []history.Op{w.Op}
	if !w.known {
		calls = append(calls, w.witness.Op)
	}
	e.findings.Add("lost write", e.key, append(calls, r.Op), "write %s was there at index %d, as call %d shows, and call %d, at index %d, found nothing of it; no erasure may have been in between",
		w.in.Name, w.seenBy, w.witness.ID, r.ID, r.out.Index)
}

// parts returns the number of a write's parts that a read found, and the first missing
// part.
func (f eraseFound) parts(in eraseCall) (there int, missing string) {
	for _, part := range [...]struct {
		name         string
		meant, found bool
	}{
		{"entry", in.Journal, f.entries[in.Name]},
		{"memory", in.Memory, f.memories[in.Name]},
		{"memory in the index", in.Memory, f.recalled[in.Name]},
		{"memory in the list of all agents", in.Memory && !f.listedPart, f.listed[in.Name]},
		{"sessions", in.Sessions > 0 && !f.paged, f.sessions[in.Name] == in.Sessions},
	} {
		switch {
		case !part.meant:
		case part.found:
			there++
		case missing == "":
			missing = part.name
		}
	}
	if f.sessions[in.Name] > 0 {
		there = max(there, 1)
	}
	return there, missing
}

// mayBeErased reports whether an erasure with an unknown outcome may have come after
// a write was there and before the end of a read. Such an erasure would be in the
// receipt, unless it continued an incomplete one.
func (e *erasures) mayBeErased(w *eraseWrite, r eraseOp) bool {
	receipt, before := r.out.Receipt, w.witness.out.Receipt
	switch {
	case receipt == nil:
		return false
	case w.known && receipt.Complete > 0 && receipt.Complete < w.out.Time: // before the write
		return false
	case !w.known && before != nil && before.Complete > 0 && before.Index == receipt.Index: // before the call that saw it
		return false
	}
	return slices.ContainsFunc(e.doubtful, func(op history.Op) bool { return op.Invoke < r.Return })
}

// judgeHead checks that the checkpoint belongs to the last entry, and that no entry
// occurs twice.
func (e *erasures) judgeHead(r eraseOp) {
	last := ""
	if n := len(r.out.Thread); n > 0 {
		last = r.out.Thread[n-1]
	}
	if r.out.Checkpoint != last {
		e.findings.Add("checkpoint and thread apart", e.key, []history.Op{r.Op}, "call %d found the checkpoint of write %q, and a thread that ends with that of %q", r.ID, r.out.Checkpoint, last)
	}
	entries := slices.Sorted(slices.Values(r.out.Thread))
	if len(slices.Compact(entries)) < len(r.out.Thread) {
		e.findings.Add("applied twice", e.key, []history.Op{r.Op}, "call %d found an entry twice", r.ID)
	}
}
