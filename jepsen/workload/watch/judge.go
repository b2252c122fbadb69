package watch

import (
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// silenceMax bounds the delay of an entry to an open watch, from the acknowledgement
// of its append, in fault-free times.
const silenceMax = 10 * time.Second

// judgeLoad checks that a read returns all requested entries that exist.
func (j *watched) judgeLoad(call int, there *loaded) {
	want := there.Rev - there.Floor
	if tail, err := history.Decode[uint64](j.Ops[call].In); err == nil && tail > 0 {
		want = min(want, tail)
	}
	if uint64(len(there.Entries)) != want {
		j.Findings.Add("entries missing", j.Key, j.Of(call), "%s found a thread at rev %d with the floor %d, and listed %d entries instead of %d",
			workload.NameOf(j.Ops[call]), there.Rev, there.Floor, len(there.Entries), want)
	}
}

// judgeWatch judges the events of one watch.
func (j *watched) judgeWatch(w *followed) {
	next := w.in.From
	ended := false
	for _, call := range w.polls {
		out := w.out[call]
		for _, seq := range out.Seqs {
			switch {
			case ended:
				j.Findings.Add("watch went on after its end", j.Key, j.Of(w.polls...), "watch %d had ended when seq %d came", w.in.Watch, seq)
			case seq < next:
				j.Findings.Add("entry watched again", j.Key, j.Of(w.polls[0], call), "seq %d came to watch %d instead of seq %d", seq, w.in.Watch, next)
			case seq > next:
				j.Findings.Add("gap in a watch", j.Key, j.Of(w.polls[0], call), "seq %d came to watch %d instead of seq %d", seq, w.in.Watch, next)
			}
			next = seq + 1
		}
		ended = ended || out.End != ""
		j.judgeGone(w, call, out)
		j.judgeEnd(w, call, out, next)
	}
	if w.incarnation > 0 && !j.Disordered {
		j.judgeSilence(w)
	}
}

// judgeEnd checks that a watch ends only for a reason, and with the event that states
// it.
func (j *watched) judgeEnd(w *followed, call int, out *polled, next uint64) {
	wrong := func(rule, format string, args ...any) {
		j.Findings.Add(rule, j.Key, j.Of(w.polls[0], call), format, args...)
	}
	switch out.End {
	case "", string(agent.CodeUnavailable), string(agent.CodeOverloaded), string(agent.CodeUnknown), string(agent.CodeCorrupt):
	case endDeleted:
		if !j.mayBeDeleted(w.incarnation, call) {
			wrong("ended for no reason", "watch %d got the event of a deletion, and no call had deleted its thread", w.in.Watch)
		}
	case endCompacted:
		if out.Floor <= next || !j.mayBeCompacted(w.incarnation, out.Floor, call) {
			wrong("ended for no reason", "watch %d waited for seq %d and got a floor of %d, which no call had set", w.in.Watch, next, out.Floor)
		}
	case string(agent.CodeNotFound):
		if append, there := j.mustExist(w.polls[0], call); there {
			j.Findings.Add("ended for no reason", j.Key, j.Of(append, w.polls[0], call), "watch %d found no thread, which %s had made and no call deleted",
				w.in.Watch, workload.NameOf(j.Ops[append]))
		}
	case endSilent:
		wrong("ended without an event", "watch %d ended by itself, without an event or an error", w.in.Watch)
	default:
		wrong("broken watch", "watch %d failed with %s", w.in.Watch, out.End)
	}
}

// mayBeDeleted reports whether a call may have deleted an incarnation before the call
// by returned; 0 means any incarnation.
func (j *watched) mayBeDeleted(incarnation uint64, by int) bool {
	for call, gone := range j.deleted {
		if (gone == 0 || incarnation == 0 || gone == incarnation) && j.Ops[call].Invoke < j.Ops[by].Return {
			return true
		}
	}
	return false
}

// mayBeCompacted reports whether a call may have compacted an incarnation to a
// floor before the call by returned.
func (j *watched) mayBeCompacted(incarnation, floor uint64, by int) bool {
	for call, c := range j.compacted {
		same := c.incarnation == 0 || incarnation == 0 || c.incarnation == incarnation
		if same && c.before == floor && j.Ops[call].Invoke < j.Ops[by].Return {
			return true
		}
	}
	return false
}

// mustExist reports whether an append had created the thread before a watch was
// opened, and no call may have deleted it before the call by returned.
func (j *watched) mustExist(opened, by int) (append int, there bool) {
	if j.mayBeDeleted(0, by) {
		return 0, false
	}
	for call, made := range j.appends {
		if made.out != nil && j.Ops[call].Return < j.Ops[opened].Invoke {
			return call, true
		}
	}
	return 0, false
}

// judgeGone checks that entries which were deleted or compacted before a watch was
// opened never come to it.
func (j *watched) judgeGone(w *followed, call int, out *polled) {
	if len(out.Seqs) == 0 || w.incarnation == 0 {
		return
	}
	opened := j.Ops[w.polls[0]].Invoke
	for deleter, gone := range j.deleted {
		if gone == w.incarnation && j.Ops[deleter].Return < opened {
			j.Findings.Add("watched what was deleted", j.Key, j.Of(deleter, w.polls[0], call),
				"watch %d was opened after %s had deleted %s, and gave its seq %d", w.in.Watch, workload.NameOf(j.Ops[deleter]), workload.IncarnationName(gone), out.Seqs[0])
		}
	}
	for compacter, c := range j.compacted {
		if c.incarnation == w.incarnation && c.before > out.Seqs[0] && j.Ops[compacter].Return < opened {
			j.Findings.Add("watched what was compacted", j.Key, j.Of(compacter, w.polls[0], call),
				"watch %d was opened after %s had made the floor %d, and gave seq %d", w.in.Watch, workload.NameOf(j.Ops[compacter]), c.before, out.Seqs[0])
		}
	}
}

// judgeSilence checks that acknowledged entries come in time, unless there was a
// fault.
func (j *watched) judgeSilence(w *followed) {
	opened, closed := j.Ops[w.polls[0]].Invoke, j.Ops[w.polls[len(w.polls)-1]].Return
	came := map[uint64]time.Duration{} // :: seq → when it came
	for _, call := range w.polls {
		if w.out[call].End != "" {
			closed = min(closed, j.Ops[call].Invoke) // it may have ended long before it was polled
		}
		for _, seq := range w.out[call].Seqs {
			came[seq] = j.Ops[call].Return
		}
	}
	object := j.Object(workload.IncarnationName(w.incarnation))
	for _, version := range object.Versions {
		author := j.MustAuthor(workload.IncarnationName(w.incarnation), object.Names[version])
		if version <= w.in.From || j.Ops[author].Outcome != history.OK {
			continue
		}
		due := max(opened, j.Ops[author].Return) + silenceMax
		at, did := came[version-1]
		if due > closed || did && at <= due || !j.faultFree.Between(due-silenceMax, due) {
			continue
		}
		j.Findings.Add("silent watch", j.Key, j.Of(author, w.polls[0], w.polls[len(w.polls)-1]),
			"watch %d was open, and seq %d had not come %v after it was acknowledged, without any fault", w.in.Watch, version-1, silenceMax)
		return
	}
}
