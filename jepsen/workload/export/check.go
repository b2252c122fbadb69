package export

import (
	"context"
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// theLog is the ledger's name of the thread, of which each commit makes one version.
const theLog = "the thread"

// refusals are the codes that no import of an export has, whatever the faults are. Others may be of a
// fault, such as corrupt of a damaged disk, or of a caller that gave up.
var refusals = []agent.Code{agent.CodeConflict, agent.CodeInvalid, agent.CodeTooLarge}

// Check judges each scope: whether each state is of one index, whether an export and a read of one
// version are equal, and whether one order of all calls explains them. The verdict is unknown if
// exports were tried and no copy was read.
func (*export) Check(ctx context.Context, h *history.History) check.Result {
	copies := 0
	r := workload.ByKey(ctx, "export", h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{Ledger: workload.NewLedger(key, ops, f), names: map[int]string{}, states: map[int]state{}, heads: map[uint64]int{}}
		if err := j.load(); err != nil {
			return err
		}
		for call := range ops {
			j.place(call)
		}
		j.Settle()
		j.judge()
		for call := range j.states {
			if ops[call].Call == callExport {
				copies++
			}
		}
		return nil
	})
	r.Counts["copies read"] = copies
	if tried := r.Counts["refused "+callExport] + r.Counts["unknown "+callExport]; r.Verdict == check.OK && copies == 0 && tried > 0 {
		r.Verdict, r.Why = check.Unknown, fmt.Sprintf("%d exports were tried, and no copy was read", tried)
	}
	return r
}

// judge is the judgement of one scope. Calls are identified by their index in Ops.
type judge struct {
	*workload.Ledger
	names  map[int]string // of commits
	states map[int]state  // answers
	heads  map[uint64]int // :: rev → the first call that shows the head at it
}

func (j *judge) load() error {
	for call, op := range j.Ops {
		if op.Call == workload.CallCommit {
			in, err := history.Decode[commit](op.In)
			if err != nil {
				return err
			}
			j.names[call] = in.Name
			j.Authored(call, theLog, in.Name)
		}
		if op.Outcome == history.OK {
			out, err := history.Decode[state](op.Out)
			if err != nil {
				return err
			}
			j.states[call] = out
		}
		if op.Call == callExport {
			j.refused(call)
		}
	}
	return nil
}

// refused judges an export that was refused.
func (j *judge) refused(call int) {
	op := j.Ops[call]
	if slices.ContainsFunc(refusals, func(code agent.Code) bool { return workload.RefusedAs(op, code) }) {
		j.Findings.Add("import refused", j.Key, j.Of(call), "%s was refused: %s", workload.NameOf(op), op.Detail)
	}
	if !workload.RefusedAs(op, agent.CodeNotFound) {
		return
	}
	for before, other := range j.Ops {
		if other.Call == workload.CallCommit && other.Outcome == history.OK && other.Return < op.Invoke {
			j.Findings.Add("scope not found", j.Key, j.Of(before, call), "%s was refused: %s; %s had written to the scope", workload.NameOf(op), op.Detail, workload.NameOf(other))
			return
		}
	}
}

// place notes which versions an answer shows, and judges it alone.
func (j *judge) place(call int) {
	out, answered := j.states[call]
	if !answered {
		return
	}
	name := workload.NameOf(j.Ops[call])
	if written, is := j.names[call]; is {
		j.Saw(written, theLog, out.Rev, call)
	} else {
		for i, n := range out.Names {
			j.Saw(n, theLog, uint64(i)+1, call)
		}
		own := slices.Sorted(slices.Values(out.Names))
		newest := ""
		if n := len(out.Names); n > 0 {
			newest = out.Names[n-1]
		}
		switch {
		case uint64(len(out.Names)) != out.Rev:
			j.Findings.Add("not of one index", j.Key, j.Of(call), "%s found a thread at rev %d with %d entries", name, out.Rev, len(out.Names))
		case !slices.Equal(own, slices.Sorted(slices.Values(out.Own))):
			j.Findings.Add("not of one index", j.Key, j.Of(call), "%s found %d entries of a thread and %d values, of which each commit writes one: they differ", name, len(own), len(out.Own))
		case out.Newest != newest:
			j.Findings.Add("not of one index", j.Key, j.Of(call), "%s found the last entry of %q, and the value of %q", name, newest, out.Newest)
		}
	}
	first, known := j.heads[out.Rev]
	if !known {
		j.heads[out.Rev] = call
	} else if j.states[first].Head != out.Head {
		j.Findings.Add("another head", j.Key, j.Of(first, call), "%s found head %s at rev %d, and %s found %s", workload.NameOf(j.Ops[first]), j.states[first].Head, out.Rev, name, out.Head)
	}
}

// judge searches for one order of all calls. An export reads the scope between its invocation and its
// return.
func (j *judge) judge() {
	transactions := map[int]*model.Transaction{}
	for call := range j.Ops {
		t := &model.Transaction{}
		if name, is := j.names[call]; is {
			if version := j.Object(theLog).Version[name]; version > 0 {
				t.Writes = []model.Access{{Object: theLog, Version: version}}
			}
		} else if out, answered := j.states[call]; answered {
			t.Reads = []model.Access{{Object: theLog, Version: out.Rev}}
		}
		if len(t.Reads)+len(t.Writes) > 0 {
			transactions[call] = t
		}
	}
	j.JudgeOrder(transactions)
}
