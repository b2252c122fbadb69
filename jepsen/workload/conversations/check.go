package conversations

import (
	"context"
	"slices"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// The ledger's names of a conversation's objects. The versions of the messages and of the pending
// messages are their numbers from 1.
const (
	theState    = "the state"
	theMessages = "the messages"
	theFile     = "the file"
	thePending  = "the pending messages"
)

// Check judges each conversation: who wrote which version, which pending messages were there, and
// whether one order of all calls explains them.
func (*conversations) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "conversations", h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{Ledger: workload.NewLedger(key, ops, f), in: map[int]call{}, out: map[int]seen{}}
		if err := j.load(); err != nil {
			return err
		}
		for c := range ops {
			if out, answered := j.out[c]; answered {
				j.place(c, out)
			}
		}
		j.Settle()
		j.judgePending()
		j.judgeWhole()
		j.judgeOrder()
		return nil
	})
}

// judge is the judgement of one conversation. Calls are identified by their index in Ops.
type judge struct {
	*workload.Ledger
	in  map[int]call
	out map[int]seen // answers
}

func (j *judge) load() error {
	for c, op := range j.Ops {
		in, err := history.Decode[call](op.In)
		if err != nil {
			return err
		}
		j.in[c] = in
		if op.Outcome == history.OK {
			out, err := history.Decode[seen](op.Out)
			if err != nil {
				return err
			}
			j.out[c] = out
		}
		switch op.Call {
		case callSay:
			for _, name := range in.names() {
				j.Authored(c, theMessages, name)
			}
			if in.File {
				j.Authored(c, theFile, in.Name)
			}
		case callSave:
			j.Authored(c, theState, in.Name)
		case callPend:
			j.Authored(c, thePending, in.Name)
		}
	}
	return nil
}

// place notes which versions an answer shows, and judges it alone.
func (j *judge) place(c int, out seen) {
	in, name := j.in[c], workload.NameOf(j.Ops[c])
	messages := func(names []string) {
		for i, n := range names {
			j.Saw(n, theMessages, out.Count-uint64(len(names))+uint64(i)+1, c)
		}
	}
	switch j.Ops[c].Call {
	case callSay:
		messages(in.names())
		if in.File {
			j.Saw(in.Name, theFile, out.File, c)
		}
	case callSave:
		j.Saw(in.Name, theState, out.Revision, c)
		if out.Revision != in.Revision+1 {
			j.Findings.Add("stale save accepted", j.Key, j.Of(c), "%s was made of revision %d and made revision %d", name, in.Revision, out.Revision)
		}
		if out.Interrupted != in.Interrupt {
			j.Findings.Add("wrong lifecycle", j.Key, j.Of(c), "%s asked for interrupted = %t and was answered %t", name, in.Interrupt, out.Interrupted)
		}
	case callPend:
		j.Saw(in.Name, thePending, out.Number, c)
	case workload.CallRead:
		if uint64(len(out.Messages)) != min(out.Count, tail) {
			j.Findings.Add("messages missing", j.Key, j.Of(c), "%s found a conversation of %d messages with %d of the last", name, out.Count, len(out.Messages))
			return
		}
		messages(out.Messages)
		if out.Revision > 0 {
			j.Saw(out.State, theState, out.Revision, c)
		}
		if out.File > 0 {
			j.Saw(out.Content, theFile, out.File, c)
		}
		for _, m := range out.Pending {
			j.Saw(m.Name, thePending, m.Number, c)
		}
	}
}

// judgePending checks that each read shows the pending messages after the newest one that was
// consumed, all of them, and its interrupted flag as the newest save left it.
func (j *judge) judgePending() {
	consumers := j.consumers()
	for c, op := range j.Ops {
		out, answered := j.out[c]
		if op.Call != workload.CallRead || !answered {
			continue
		}
		name := workload.NameOf(op)
		for i, m := range out.Pending {
			if m.Number != out.Consumed+uint64(i)+1 {
				j.Findings.Add("pending message missing", j.Key, j.Of(c), "%s found number %d at place %d of the pending messages, of which those up to %d are consumed", name, m.Number, i+1, out.Consumed)
				break
			}
		}
		j.judgeConsumed(c, out, consumers)
		save, known := j.Author[workload.Write{Object: theState, Name: out.State}]
		if in := j.in[save]; out.Revision > 0 && known && in.Interrupt != out.Interrupted {
			j.Findings.Add("wrong lifecycle", j.Key, j.Of(save, c), "%s saved interrupted = %t, and %s found %t at its revision", workload.NameOf(j.Ops[save]), in.Interrupt, name, out.Interrupted)
		}
	}
}

// consumers returns, for each known revision in order, the save up to it that consumed the highest
// number.
func (j *judge) consumers() (saves []int) {
	state := j.Object(theState)
	for i, revision := range state.Versions {
		save := j.MustAuthor(theState, state.Names[revision])
		if i > 0 && j.in[saves[i-1]].Consumed >= j.in[save].Consumed {
			save = saves[i-1]
		}
		saves = append(saves, save)
	}
	return saves
}

// judgeConsumed checks that the messages which a read shows as consumed are those that the saves up to
// its revision consumed. Nothing else removes a pending message. A save that no answer shows may have
// consumed more than the known ones, but not less.
func (j *judge) judgeConsumed(c int, out seen, consumers []int) {
	name, state := workload.NameOf(j.Ops[c]), j.Object(theState)
	shown, consumed := []int{c}, uint64(0)
	if known, _ := slices.BinarySearch(state.Versions, out.Revision+1); known > 0 {
		save := consumers[known-1]
		shown, consumed = append(shown, save), j.in[save].Consumed
	}
	switch {
	case consumed > out.Consumed:
		j.Findings.Add("consumed message came back", j.Key, j.Of(shown...), "the saves up to revision %d consumed the pending messages up to %d, and %s found those after %d at that revision",
			out.Revision, consumed, name, out.Consumed)
	case consumed < out.Consumed && state.KnownUpTo(out.Revision):
		j.Findings.Add("consumed by no save", j.Key, j.Of(shown...), "%s found the pending messages up to %d consumed at revision %d, and the saves up to that revision consumed those up to %d",
			name, out.Consumed, out.Revision, consumed)
	}
}

// found returns the versions that a read found, none if it has no answer. A read shows how many
// messages were ever pending: the last number that is pending, or that is consumed.
func (j *judge) found(c int) []model.Access {
	out, answered := j.out[c]
	if !answered {
		return nil
	}
	return []model.Access{
		{Object: theState, Version: out.Revision},
		{Object: theMessages, Version: out.Count},
		{Object: theFile, Version: out.File},
		{Object: thePending, Version: out.Consumed + uint64(len(out.Pending))},
	}
}

// judgeWhole checks that no answer shows a part of a say without the rest: a message without the
// next ones, or without the file.
func (j *judge) judgeWhole() {
	writes, found := map[int][]workload.Write{}, map[int][]model.Access{}
	for c, op := range j.Ops {
		switch in, out := j.in[c], j.out[c]; op.Call {
		case callSay:
			for _, name := range in.names() {
				writes[c] = append(writes[c], workload.Write{Object: theMessages, Name: name})
			}
			if in.File {
				writes[c] = append(writes[c], workload.Write{Object: theFile, Name: in.Name})
			}
			if out.Count > 0 {
				found[c] = append(found[c], model.Access{Object: theMessages, Version: out.Count})
			}
			if out.File > 0 {
				found[c] = append(found[c], model.Access{Object: theFile, Version: out.File})
			}
		case workload.CallRead:
			found[c] = j.found(c)
		}
	}
	j.JudgeWhole(writes, found)
}

// judgeOrder searches for one order of all calls.
func (j *judge) judgeOrder() {
	transactions := map[int]*model.Transaction{}
	for c, op := range j.Ops {
		t, in := &model.Transaction{}, j.in[c]
		wrote := func(object, name string) {
			if version := j.Object(object).Version[name]; version > 0 {
				t.Writes = append(t.Writes, model.Access{Object: object, Version: version})
			}
		}
		switch op.Call {
		case callSay:
			for _, name := range in.names() {
				wrote(theMessages, name)
			}
			if in.File {
				wrote(theFile, in.Name)
			}
		case callSave:
			if wrote(theState, in.Name); len(t.Writes) > 0 {
				t.Reads = append(t.Reads, model.Access{Object: theState, Version: in.Revision})
			}
		case callPend:
			wrote(thePending, in.Name)
		case workload.CallRead:
			t.Reads = j.found(c)
		}
		if len(t.Reads)+len(t.Writes) > 0 {
			transactions[c] = t
		}
	}
	j.JudgeOrder(transactions)
}
