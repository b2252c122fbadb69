package erase

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each agent separately. Answers contain their log index, so it follows
// what a read must find: all writes since the newest erasure, and nothing from before
// it.
func (*erase) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "erase", h, func(key string, ops []history.Op, f *workload.Findings) error {
		e := &erasures{key: key, findings: f, writes: map[string]*eraseWrite{}}
		if err := e.load(ops); err != nil {
			return err
		}
		e.judgeReceipts()
		e.judgeOrder()
		for _, r := range e.reads {
			e.judgeRead(r)
		}
		e.judgeLate()
		e.judgeSeals()
		return nil
	})
}

// erasures is the history of one agent.
type erasures struct {
	key      string
	findings *workload.Findings

	writes   map[string]*eraseWrite
	names    []string           // of the writes, sorted
	erased   []eraseOp          // erasures with an answer, by log index
	doubtful []history.Op       // erasures whose outcome is unknown, by invocation
	late     []eraseOp          // late calls with an answer
	reads    []eraseOp          // reads with an answer
	receipts map[uint64]eraseOp // :: index of a receipt → the first returned call that shows it
	applied  map[uint64]eraseOp // :: index → the erasure that was applied there
	answered []eraseOp          // all calls with an answer
}

// eraseOp is a call and its answer, if any.
type eraseOp struct {
	history.Op
	in  eraseCall
	out eraseSeen
}

// eraseWrite is a write and the index at which it took effect. If that is unknown,
// seenBy is the lowest index at which it was seen.
type eraseWrite struct {
	eraseOp
	known   bool
	seenBy  uint64  // 0 if no call saw it
	witness eraseOp // the call that saw it at seenBy
}

func (e *erasures) load(ops []history.Op) error {
	e.receipts, e.applied = map[uint64]eraseOp{}, map[uint64]eraseOp{}
	for _, op := range ops {
		in, err := history.Decode[eraseCall](op.In)
		if err != nil {
			return err
		}
		one := eraseOp{Op: op, in: in}
		if op.Outcome == history.OK {
			if one.out, err = history.Decode[eraseSeen](op.Out); err != nil {
				return err
			}
			e.answered = append(e.answered, one)
		}
		e.add(one)
	}
	e.names = slices.Sorted(maps.Keys(e.writes))
	slices.SortFunc(e.erased, func(a, b eraseOp) int { return cmp.Compare(a.out.Index, b.out.Index) })
	for _, r := range e.reads {
		for _, name := range r.out.names() {
			if w := e.writes[name]; w != nil && !w.known && (w.seenBy == 0 || r.out.Index < w.seenBy) {
				w.seenBy, w.witness = r.out.Index, r
			}
		}
	}
	return nil
}

func (e *erasures) add(one eraseOp) {
	ok := one.Outcome == history.OK
	switch {
	case one.Call == workload.CallPut:
		w := &eraseWrite{eraseOp: one, known: ok}
		if ok {
			w.seenBy, w.witness = one.out.Index, one
		}
		e.writes[one.in.Name] = w
	case one.Call == callErase && one.Outcome == history.Unknown:
		e.doubtful = append(e.doubtful, one.Op)
	case one.Call == callErase && ok:
		e.erased = append(e.erased, one)
		e.applied[one.out.Index] = one
	case one.Call == callLate && ok:
		e.late = append(e.late, one)
	case one.Call == workload.CallRead && ok:
		e.reads = append(e.reads, one)
	}
	if r := one.out.Receipt; r != nil {
		if before, known := e.receipts[r.Index]; !known || one.Return < before.Return {
			e.receipts[r.Index] = one
		}
	}
}

// names returns all writes of which a read found a part, without duplicates.
func (s *eraseSeen) names() []string {
	all := slices.Concat(s.Thread, s.Memories, s.Recalled, s.Listed, slices.Collect(maps.Keys(s.Sessions)))
	if s.Checkpoint != "" {
		all = append(all, s.Checkpoint)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// judgeReceipts checks that a call made each erasure in a receipt, and that a call
// with an unknown outcome erases at most once.
func (e *erasures) judgeReceipts() {
	unclaimed := 0
	for _, index := range slices.Sorted(maps.Keys(e.receipts)) {
		shown := e.receipts[index]
		if _, known := e.applied[index]; known {
			continue
		}
		unclaimed++
		asked := 0
		for _, op := range e.doubtful {
			if op.Invoke < shown.Return {
				asked++
			}
		}
		if asked < unclaimed {
			e.findings.Add("erased by no call", e.key, append(slices.Clone(e.doubtful), shown.Op), "call %d shows that the agent was erased at index %d: of %d such erasures without an answered call, at most %d can be explained by unknown calls",
				shown.ID, index, unclaimed, asked)
		}
	}
}

// judgeOrder checks that the log's index and the receipts do not go back.
func (e *erasures) judgeOrder() {
	returned := slices.Clone(e.answered)
	slices.SortStableFunc(returned, func(a, b eraseOp) int { return cmp.Compare(a.Return, b.Return) })
	slices.SortStableFunc(e.answered, func(a, b eraseOp) int { return cmp.Compare(a.Invoke, b.Invoke) })
	var newest eraseOp
	for _, one := range e.answered {
		for ; returned[0].Return < one.Invoke; returned = returned[1:] {
			if returned[0].out.Index > newest.out.Index {
				newest = returned[0]
			}
		}
		if one.out.Index < newest.out.Index {
			e.findings.Add("index went back", e.key, []history.Op{newest.Op, one.Op}, "call %d is of index %d, and call %d, which had returned, of index %d",
				one.ID, one.out.Index, newest.ID, newest.out.Index)
		}
	}
	for _, r := range e.reads {
		if at, erased := e.erasedBy(r.out.Index); erased && (r.out.Receipt == nil || r.out.Receipt.Index < at.out.Receipt.Index) {
			e.findings.Add("receipt went back", e.key, []history.Op{at.Op, r.Op}, "call %d was given the receipt of index %d, and call %d found %v, later in the log",
				at.ID, at.out.Receipt.Index, r.ID, r.out.Receipt)
		}
	}
}

// erasedBy returns the newest answered erasure that was applied by an index.
func (e *erasures) erasedBy(index uint64) (eraseOp, bool) {
	at, _ := slices.BinarySearchFunc(e.erased, index+1, func(one eraseOp, index uint64) int { return cmp.Compare(one.out.Index, index) })
	if at == 0 {
		return eraseOp{}, false
	}
	return e.erased[at-1], true
}

// newestErasure returns the index of the newest erasure that was applied by an index
// as far as known, and the call that shows it.
func (e *erasures) newestErasure(by uint64) (index uint64, shown history.Op) {
	if one, found := e.erasedBy(by); found {
		index, shown = one.out.Index, one.Op
	}
	for at, one := range e.receipts {
		if at <= by && at > index {
			index, shown = at, one.Op
		}
	}
	return index, shown
}

// judgeLate checks that a call on a session of an erased incarnation is refused.
func (e *erasures) judgeLate() {
	for _, one := range e.late {
		// At one index the erasure may come before or after the call.
		if erased, shown := e.newestErasure(one.out.Index - 1); erased > one.in.Since {
			e.findings.Add("brought back", e.key, []history.Op{shown, one.Op}, "call %d wrote to a session that was made at index %d; the agent was erased at index %d, as call %d shows",
				one.ID, one.in.Since, erased, shown.ID)
		}
	}
}

// judgeSeals checks that a sealed agent accepts no write, by the log's time.
func (e *erasures) judgeSeals() {
	for _, sealer := range e.erased {
		for _, name := range e.names {
			w := e.writes[name]
			if w.known && w.out.Index > sealer.out.Index && w.out.Time < sealer.out.Time+sealer.in.Seal.Milliseconds() {
				e.findings.Add("written while sealed", e.key, []history.Op{sealer.Op, w.Op}, "call %d sealed the agent for %v at index %d, and call %d wrote to it %v later",
					sealer.ID, sealer.in.Seal, sealer.out.Index, w.ID, time.Duration(w.out.Time-sealer.out.Time)*time.Millisecond)
			}
		}
	}
}
