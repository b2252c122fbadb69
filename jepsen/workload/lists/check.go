package lists

import (
	"context"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// Check judges each group: a transaction writes the versions that its answer, or a read, shows, and
// reads the versions that it found. One order of all must explain them, in real time.
func (*lists) Check(ctx context.Context, h *history.History) check.Result {
	return workload.ByKey(ctx, "lists", h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{Ledger: workload.NewLedger(key, ops, f), commits: map[int]commit{}, answers: map[int]answer{}}
		if err := j.load(); err != nil {
			return err
		}
		j.place()
		j.Settle()
		j.judgeWhole()
		j.judge()
		return nil
	})
}

// judge is the judgement of one group. Calls are identified by their index in Ops.
type judge struct {
	*workload.Ledger
	commits map[int]commit
	answers map[int]answer
}

func (j *judge) load() error {
	for call, op := range j.Ops {
		if op.Call == workload.CallCommit {
			in, err := history.Decode[commit](op.In)
			if err != nil {
				return err
			}
			j.commits[call] = in
			for _, thread := range in.Threads {
				j.Authored(call, thread, in.Name)
			}
		}
		if op.Outcome == history.OK {
			out, err := history.Decode[answer](op.Out)
			if err != nil {
				return err
			}
			j.answers[call] = out
		}
	}
	return nil
}

// place determines which commit made which version of each thread.
func (j *judge) place() {
	for call, op := range j.Ops {
		in, writes := j.commits[call]
		for _, s := range j.answers[call].Threads {
			if writes {
				j.Saw(in.Name, s.Thread, s.Rev, call)
				continue
			}
			if want := workload.TailOf(s.Rev, min(s.Rev, tail)); uint64(len(s.Names)) != want {
				j.Findings.Add("entries missing", j.Key, j.Of(call), "%s found thread %s at rev %d with %d of its last entries", workload.NameOf(op), s.Thread, s.Rev, len(s.Names))
				continue
			}
			for i, name := range s.Names {
				j.Saw(name, s.Thread, s.Rev-uint64(len(s.Names))+uint64(i)+1, call)
			}
		}
		if rev := in.Rev; rev != nil && len(j.answers[call].Threads) > 0 && j.answers[call].Threads[0].Rev != *rev+1 {
			j.Findings.Add("unexpected rev accepted", j.Key, j.Of(call), "%s expected rev %d and made rev %d", workload.NameOf(op), *rev, j.answers[call].Threads[0].Rev)
		}
	}
}

// judgeWhole checks that no answer shows a commit in one thread and misses it in another one.
func (j *judge) judgeWhole() {
	writes, found := map[int][]workload.Write{}, map[int][]model.Access{}
	for call, in := range j.commits {
		for _, thread := range in.Threads {
			writes[call] = append(writes[call], workload.Write{Object: thread, Name: in.Name})
		}
	}
	for call, out := range j.answers {
		for _, s := range out.Threads {
			found[call] = append(found[call], model.Access{Object: s.Thread, Version: s.Rev})
		}
	}
	j.JudgeWhole(writes, found)
}

// judge searches for one order of all transactions.
func (j *judge) judge() {
	transactions := map[int]*model.Transaction{}
	for call := range j.Ops {
		t := &model.Transaction{}
		if in, writes := j.commits[call]; writes {
			for _, thread := range in.Threads {
				if version := j.Object(thread).Version[in.Name]; version > 0 {
					t.Writes = append(t.Writes, model.Access{Object: thread, Version: version})
				}
			}
		} else {
			for _, s := range j.answers[call].Threads {
				t.Reads = append(t.Reads, model.Access{Object: s.Thread, Version: s.Rev})
			}
		}
		if len(t.Writes)+len(t.Reads) > 0 {
			transactions[call] = t
		}
	}
	j.JudgeOrder(transactions)
}
