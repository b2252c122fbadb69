package tokens

import (
	"context"
	"maps"
	"slices"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each token: no call was served after the revocation, by time and by the log's order,
// none after it expired, none beyond its rights; and none was refused before the revocation began.
func (*tokens) Check(ctx context.Context, h *history.History) check.Result {
	counts := map[string]int{"called after the revocation": 0, "served before it": 0}
	times := logTimesOf(h)
	r := workload.ByKey(ctx, Name, h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{key: key, ops: ops, findings: f, counts: counts, times: times}
		if err := j.load(); err != nil {
			return err
		}
		j.judge()
		return nil
	})
	maps.Copy(r.Counts, counts)
	return r
}

// judge is the judgement of one token. Calls are identified by their place in ops.
type judge struct {
	key      string
	ops      []history.Op
	findings *workload.Findings
	counts   map[string]int
	times    logTimes

	in      []used
	out     []seen
	token   string         // the one that is used
	kind    created        // of token
	made    int            // its creation, or -1
	put     map[string]int // :: name → the call that put it
	revokes []int          // all of them
	reads   []int          // of all values
}

func (j *judge) add(rule string, calls []int, format string, args ...any) {
	j.findings.Add(rule, j.key, workload.CallsOf(j.ops, calls...), format, args...)
}

func (j *judge) load() (err error) {
	j.in, j.out, j.put, j.made = make([]used, len(j.ops)), make([]seen, len(j.ops)), map[string]int{}, -1
	for call, op := range j.ops {
		if op.Outcome == history.OK {
			if j.out[call], err = history.Decode[seen](op.Out); err != nil {
				return err
			}
		}
		switch op.Call {
		case callCreate:
			continue
		case workload.CallRead:
			j.reads = append(j.reads, call)
			continue
		case callRevoke:
			j.revokes = append(j.revokes, call)
		}
		if j.in[call], err = history.Decode[used](op.In); err != nil {
			return err
		}
		if j.token = j.in[call].Token; op.Call == workload.CallPut {
			j.put[j.in[call].Name] = call
		}
	}
	for call, op := range j.ops {
		if op.Call == callCreate && op.Outcome == history.OK && j.out[call].Token == j.token {
			j.made = call
			j.kind, err = history.Decode[created](op.In)
		}
	}
	return err
}

func (j *judge) judge() {
	for call, op := range j.ops {
		if op.Call != workload.CallPut && op.Call != workload.CallGet && op.Call != callStray {
			continue
		}
		if j.after(call) >= 0 {
			j.counts["called after the revocation"]++
		}
		switch op.Outcome {
		case history.OK:
			j.served(call)
		case history.Refused:
			j.refused(call)
		default: // the final read shows it
		}
	}
	for _, call := range j.reads {
		j.stored(call)
	}
}

// after returns a revocation that was acknowledged before a call began; -1 for none.
func (j *judge) after(call int) int {
	i := slices.IndexFunc(j.revokes, func(r int) bool {
		return j.ops[r].Outcome == history.OK && j.ops[r].Return < j.ops[call].Invoke
	})
	if i < 0 {
		return -1
	}
	return j.revokes[i]
}

// served judges a call that was done.
func (j *judge) served(call int) {
	op, out := j.ops[call], j.out[call]
	if r := j.after(call); r >= 0 {
		j.add("served after the revocation", []int{r, call}, "%s was done on %s, and the token had been revoked before it began", workload.NameOf(op), where(op))
		return
	}
	if r := j.behind(call); r >= 0 {
		j.add("served behind the revocation in the log", []int{r, call}, "%s was done at index %d, and the token was revoked at index %d", workload.NameOf(op), out.Index, j.out[r].Index)
		return
	}
	switch {
	case op.Call == callStray:
		j.add("served outside of its scopes", []int{call}, "%s was done on %s in a scope that the token does not name", workload.NameOf(op), where(op))
	case op.Call == workload.CallPut && j.kind.ReadOnly:
		j.add("served beyond its verbs", []int{call}, "%s was done on %s with a token that may only read", workload.NameOf(op), where(op))
	case j.made >= 0 && j.out[j.made].Expires > 0 && out.Time > j.out[j.made].Expires:
		j.add("served after it expired", []int{j.made, call}, "%s was applied at %d of the log's time, and the token expired at %d", workload.NameOf(op), out.Time, j.out[j.made].Expires)
	case j.readExpired(call):
	default:
		j.counts["served before it"]++
	}
}

// readExpired adds a finding if a get was done after the token had expired, and reports whether it did.
// The time of the log at the index of a get is at least that of each put before it.
func (j *judge) readExpired(call int) bool {
	op, index := j.ops[call], j.out[call].Index
	if op.Call != workload.CallGet || index == 0 || j.made < 0 || j.out[j.made].Expires == 0 {
		return false
	}
	put := j.times.before(index, op.Invoke)
	if put == nil || put.time <= j.out[j.made].Expires {
		return false
	}
	j.findings.Add("served after it expired", j.key, []history.Op{j.ops[j.made], put.op, op}, "%s was done on %s at index %d; the log was at time %d by index %d, as %s shows, and the token expired at %d",
		workload.NameOf(op), where(op), index, put.time, put.index, workload.NameOf(put.op), j.out[j.made].Expires)
	return true
}

// behind returns a revocation at an index before that of a call; -1 for none. A put may be of the same entry
// and come before it there. The answer to a get at that index shows what the entry left.
func (j *judge) behind(call int) int {
	at, op := j.out[call].Index, j.ops[call]
	for _, r := range j.revokes {
		index := j.out[r].Index
		if index > 0 && op.Call != callStray && (at > index || at == index && op.Call == workload.CallGet) {
			return r
		}
	}
	return -1
}

// refused judges a call that was refused for want of rights.
func (j *judge) refused(call int) {
	op := j.ops[call]
	denied := workload.RefusedAs(op, agent.CodeUnauthenticated) || workload.RefusedAs(op, agent.CodeForbidden)
	expected := op.Call == callStray || op.Call == workload.CallPut && j.kind.ReadOnly
	switch {
	case !denied || expected || j.made < 0 || j.ops[j.made].Return >= op.Invoke:
	case j.kind.TTL > 0 && workload.RefusedAs(op, agent.CodeUnauthenticated): // it may have expired
	case slices.ContainsFunc(j.revokes, func(r int) bool { return j.ops[r].Outcome != history.Refused && j.ops[r].Invoke <= op.Return }):
	default:
		j.add("refused before the revocation", []int{j.made, call}, "%s was refused on %s as %s, after the token was created and before any revocation began", workload.NameOf(op), where(op), op.Code)
	}
}

// stored judges what the final read of all values shows.
func (j *judge) stored(read int) {
	if j.ops[read].Outcome != history.OK {
		return
	}
	there := map[string]bool{}
	for _, name := range j.out[read].Names {
		there[name] = true
		call, known := j.put[name]
		switch {
		case !known:
			j.add("value from nowhere", []int{read}, "value %s was put by no call", name)
		case j.ops[call].Outcome == history.Refused:
			j.add("refused but there", []int{call, read}, "%s was refused as %s, and its value is there", workload.NameOf(j.ops[call]), j.ops[call].Code)
		case j.ops[call].Outcome == history.Unknown && j.after(call) >= 0:
			j.add("applied after the revocation", []int{j.after(call), call, read}, "%s began after the token had been revoked, and its value is there", workload.NameOf(j.ops[call]))
		case j.kind.ReadOnly:
			j.add("served beyond its verbs", []int{call, read}, "value %s is there, and the token may only read", name)
		}
	}
	for name, call := range j.put {
		if op := j.ops[call]; op.Outcome == history.OK && op.Return < j.ops[read].Invoke && !there[name] {
			j.add("acknowledged and lost", []int{call, read}, "%s was done, and its value is not there", workload.NameOf(op))
		}
	}
}

// where returns the node of a call.
func where(op history.Op) string {
	if op.Node == "" {
		return "some node"
	}
	return op.Node
}
