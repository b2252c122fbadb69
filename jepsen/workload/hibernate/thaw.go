package hibernate

import (
	"dormouse/agent"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// judge applies all rules. Every revision and entry that was seen has a writer.
func (a *sleeper) judge() {
	transactions := map[int]*model.Transaction{}
	for call := range a.Ops {
		t := &model.Transaction{}
		rows, listed := a.histories[call]
		switch s, woken, page := a.sleeps[call], a.thaws[call], a.loads[call]; {
		case s != nil:
			t = a.sleepTransaction(s)
		case woken != nil:
			a.judgeThaw(call, woken)
			if woken.in.Revision == 0 {
				t.Reads = append(t.Reads, model.Access{Object: itsCheckpoint, Version: woken.out.Revision})
			}
			if woken.out.Revision > 0 {
				t.Reads = append(t.Reads, model.Access{Object: itsThread, Version: woken.out.Rev + woken.out.Ahead})
			}
		case page != nil:
			t.Reads = append(t.Reads, model.Access{Object: itsThread, Version: page.Rev})
		case listed:
			newest := a.judgeHistory(call, rows)
			t.Reads = append(t.Reads, model.Access{Object: itsCheckpoint, Version: newest})
		default:
			continue
		}
		if len(t.Reads)+len(t.Writes) > 0 {
			transactions[call] = t
		}
	}
	a.JudgeOrder(transactions)
}

// sleepTransaction returns the known effects of a hibernation or append: none if no
// call saw that it was applied.
func (a *sleeper) sleepTransaction(s *asleep) *model.Transaction {
	t := &model.Transaction{}
	revision := a.Object(itsCheckpoint).Version[s.in.By]
	if revision > 0 && s.whole {
		t.Writes = append(t.Writes, model.Access{Object: itsCheckpoint, Version: revision})
	}
	rev := uint64(0)
	for _, name := range s.in.Entries[len(s.in.Entries)-s.in.New:] {
		rev = max(rev, a.Object(itsThread).Version[name])
	}
	switch {
	case rev > 0:
		t.Writes = append(t.Writes, model.Access{Object: itsThread, Version: rev})
	case len(t.Writes) > 0: // a hibernation of an older rev would be refused
		t.Reads = append(t.Reads, model.Access{Object: itsThread, Version: s.in.rev()})
	}
	return t
}

// judgeThaw judges one thaw alone.
func (a *sleeper) judgeThaw(call int, t *thaw) {
	name := workload.NameOf(a.Ops[call])
	if t.out.Revision == 0 {
		return
	}
	if t.in.Revision > 0 && t.out.Revision != t.in.Revision {
		a.Findings.Add("another revision", a.Key, a.Of(call), "%s asked for revision %d and got %d", name, t.in.Revision, t.out.Revision)
	}
	// The floor may have passed the pointer of an older revision.
	want := workload.TailOf(t.out.Rev-min(t.out.Rev, t.out.Floor), t.in.Tail)
	if uint64(len(t.out.Entries)) != want {
		a.Findings.Add("entries missing", a.Key, a.Of(call), "%s found a pointer to rev %d of a thread from seq %d on, with %d entries instead of %d",
			name, t.out.Rev, t.out.Floor, len(t.out.Entries), want)
	}
	sleeper := a.Author[workload.Write{Object: itsCheckpoint, Name: t.out.By}]
	if rev := a.sleeps[sleeper].in.rev(); rev != t.out.Rev {
		a.Findings.Add("another pointer", a.Key, a.Of(sleeper, call), "%s thawed at rev %d what %s had hibernated at rev %d",
			name, t.out.Rev, workload.NameOf(a.Ops[sleeper]), rev)
	}
	a.judgeWhole(call, t)
}

// judgeWhole checks that a call which sees the entries of a hibernation also sees its
// checkpoint. If the checkpoint's revision is known, the order of all calls decides;
// this rule is for a checkpoint that no call saw.
func (a *sleeper) judgeWhole(call int, t *thaw) {
	checkpoints := a.Object(itsCheckpoint)
	if t.in.Revision > 0 || !checkpoints.KnownUpTo(t.out.Revision) {
		return
	}
	for asleep, s := range a.sleeps {
		if s.out != nil || !s.whole || s.in.New == 0 || checkpoints.Version[s.in.By] > 0 {
			continue
		}
		if at := a.Object(itsThread).Version[s.in.Entries[len(s.in.Entries)-1]]; at > 0 && at <= t.out.Rev+t.out.Ahead {
			a.Findings.Add("half a commit", a.Key, a.Of(asleep, call), "%s saw the entries of %s, and not its checkpoint",
				workload.NameOf(a.Ops[call]), workload.NameOf(a.Ops[asleep]))
		}
	}
}

// judgeHistory checks that the kept revisions are the newest ones, without a gap and
// with their pointers, and that pointers never go back.
func (a *sleeper) judgeHistory(call int, rows []keptRevision) (newest uint64) {
	if len(rows) == 0 {
		return 0
	}
	name := workload.NameOf(a.Ops[call])
	newest = rows[0].Revision
	if want := min(newest, agent.HistoryDefault); uint64(len(rows)) != want {
		a.Findings.Add("history of another length", a.Key, a.Of(call), "%s lists %d revisions up to %d instead of %d", name, len(rows), newest, want)
	}
	for i, row := range rows {
		if row.Revision != newest-uint64(i) {
			a.Findings.Add("gap in the history", a.Key, a.Of(call), "%s lists revision %d instead of %d", name, row.Revision, newest-uint64(i))
			break
		}
		if i > 0 && row.Rev > rows[i-1].Rev {
			a.Findings.Add("pointer went back", a.Key, a.Of(call), "%s shows revision %d at rev %d and the one after it at rev %d",
				name, row.Revision, row.Rev, rows[i-1].Rev)
		}
		by, known := a.Object(itsCheckpoint).Names[row.Revision]
		if !known {
			continue
		}
		sleeper := a.Author[workload.Write{Object: itsCheckpoint, Name: by}]
		if rev := a.sleeps[sleeper].in.rev(); rev != row.Rev {
			a.Findings.Add("another pointer", a.Key, a.Of(sleeper, call), "%s lists revision %d at rev %d, and %s had hibernated at rev %d",
				name, row.Revision, row.Rev, workload.NameOf(a.Ops[sleeper]), rev)
		}
	}
	return newest
}
