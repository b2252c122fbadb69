package workload

import (
	"time"

	"dormouse/agent"
	"dormouse/jepsen/history"
)

// silenceMax is how late an entry may come to a watch that is open, counted
// from when its append was acknowledged, while nothing is wrong.
const silenceMax = 10 * time.Second

// judgeLoad: a read lists all entries that it was asked for and that are there.
func (j *watched) judgeLoad(call int, there *watchLoaded) {
	want := there.Rev - there.Floor
	if tail, err := history.Decode[uint64](j.ops[call].In); err == nil && tail > 0 {
		want = min(want, tail)
	}
	if uint64(len(there.Entries)) != want {
		j.findings.add("entries missing", j.key, j.of(call), "%s found a thread at rev %d with the floor %d, and listed %d entries instead of %d",
			nameOf(j.ops[call]), there.Rev, there.Floor, len(there.Entries), want)
	}
}

// judgeWatch judges one watch by what it was to give and what it gave.
func (j *watched) judgeWatch(w *followed) {
	next := w.in.From
	ended := false
	for _, call := range w.polls {
		out := w.out[call]
		for _, seq := range out.Seqs {
			switch {
			case ended:
				j.findings.add("watch went on after its end", j.key, j.of(w.polls...), "watch %d had ended when seq %d came", w.in.Watch, seq)
			case seq < next:
				j.findings.add("entry watched again", j.key, j.of(w.polls[0], call), "seq %d came to watch %d where seq %d was due", seq, w.in.Watch, next)
			case seq > next:
				j.findings.add("gap in a watch", j.key, j.of(w.polls[0], call), "seq %d came to watch %d where seq %d was due", seq, w.in.Watch, next)
			}
			next = seq + 1
		}
		ended = ended || out.End != ""
		j.judgeGone(w, call, out)
		j.judgeEnd(w, call, out, next)
	}
	if w.incarnation > 0 && !j.disordered {
		j.judgeSilence(w)
	}
}

// judgeEnd: a watch ends with the event that says why, and only then.
func (j *watched) judgeEnd(w *followed, call int, out *watchPolled, next uint64) {
	wrong := func(rule, format string, args ...any) {
		j.findings.add(rule, j.key, j.of(w.polls[0], call), format, args...)
	}
	switch out.End {
	case "", string(agent.CodeUnavailable), string(agent.CodeOverloaded), string(agent.CodeUnknown), string(agent.CodeCorrupt):
	case endDeleted:
		if !j.mayBeDeleted(w.incarnation, call) {
			wrong("ended for nothing", "watch %d was told that its thread is deleted, which nobody had done", w.in.Watch)
		}
	case endCompacted:
		if out.Floor <= next || !j.mayBeCompacted(w.incarnation, out.Floor, call) {
			wrong("ended for nothing", "watch %d waited for seq %d and was told that the floor is %d, which nobody had made it", w.in.Watch, next, out.Floor)
		}
	case string(agent.CodeNotFound):
		if append, there := j.surelyThere(w.polls[0], call); there {
			j.findings.add("ended for nothing", j.key, j.of(append, w.polls[0], call), "watch %d found no thread, which %s had made and nobody deleted",
				w.in.Watch, nameOf(j.ops[append]))
		}
	case endSilent:
		wrong("ended without a word", "watch %d ended by itself, without an event or an error", w.in.Watch)
	default:
		wrong("broken watch", "watch %d failed with %s", w.in.Watch, out.End)
	}
}

// mayBeDeleted tells whether somebody may have deleted an incarnation before a
// call returned; 0 stands for any.
func (j *watched) mayBeDeleted(incarnation uint64, by int) bool {
	for call, gone := range j.deleted {
		if (gone == 0 || incarnation == 0 || gone == incarnation) && j.ops[call].Invoke < j.ops[by].Return {
			return true
		}
	}
	return false
}

// mayBeCompacted tells likewise whether somebody may have made a floor.
func (j *watched) mayBeCompacted(incarnation, floor uint64, by int) bool {
	for call, c := range j.compacted {
		same := c.incarnation == 0 || incarnation == 0 || c.incarnation == incarnation
		if same && c.before == floor && j.ops[call].Invoke < j.ops[by].Return {
			return true
		}
	}
	return false
}

// surelyThere tells whether an append had made the thread before a watch was
// opened, and nobody may have deleted it before the call by returned.
func (j *watched) surelyThere(opened, by int) (append int, there bool) {
	if j.mayBeDeleted(0, by) {
		return 0, false
	}
	for call, made := range j.appends {
		if made.out != nil && j.ops[call].Return < j.ops[opened].Invoke {
			return call, true
		}
	}
	return 0, false
}

// judgeGone: what had been deleted or compacted when a watch was opened never
// comes to it.
func (j *watched) judgeGone(w *followed, call int, out *watchPolled) {
	if len(out.Seqs) == 0 || w.incarnation == 0 {
		return
	}
	opened := j.ops[w.polls[0]].Invoke
	for deleter, gone := range j.deleted {
		if gone == w.incarnation && j.ops[deleter].Return < opened {
			j.findings.add("watched what was deleted", j.key, j.of(deleter, w.polls[0], call),
				"watch %d was opened after %s had deleted %s, and gave its seq %d", w.in.Watch, nameOf(j.ops[deleter]), incarnationName(gone), out.Seqs[0])
		}
	}
	for compacter, c := range j.compacted {
		if c.incarnation == w.incarnation && c.before > out.Seqs[0] && j.ops[compacter].Return < opened {
			j.findings.add("watched what was compacted", j.key, j.of(compacter, w.polls[0], call),
				"watch %d was opened after %s had made the floor %d, and gave seq %d", w.in.Watch, nameOf(j.ops[compacter]), c.before, out.Seqs[0])
		}
	}
}

// judgeSilence: while nothing is wrong, what was acknowledged comes soon.
func (j *watched) judgeSilence(w *followed) {
	opened, closed := j.ops[w.polls[0]].Invoke, j.ops[w.polls[len(w.polls)-1]].Return
	came := map[uint64]time.Duration{} // :: seq → when
	for _, call := range w.polls {
		if w.out[call].End != "" {
			closed = min(closed, j.ops[call].Invoke) // it may have ended long before somebody asked
		}
		for _, seq := range w.out[call].Seqs {
			came[seq] = j.ops[call].Return
		}
	}
	home := j.object(incarnationName(w.incarnation))
	for _, version := range home.versions {
		author := j.mustAuthor(incarnationName(w.incarnation), home.names[version])
		if version <= w.in.From || j.ops[author].Outcome != history.OK {
			continue
		}
		due := max(opened, j.ops[author].Return) + silenceMax
		at, did := came[version-1]
		if due > closed || did && at <= due || !j.calm.between(due-silenceMax, due) {
			continue
		}
		j.findings.add("silent watch", j.key, j.of(author, w.polls[0], w.polls[len(w.polls)-1]),
			"watch %d was open, and seq %d had not come %v after it was acknowledged, though nothing was wrong", w.in.Watch, version-1, silenceMax)
		return
	}
}
