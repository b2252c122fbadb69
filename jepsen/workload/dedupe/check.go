package dedupe

import (
	"bytes"
	"context"
	"slices"
	"strconv"

	"dormouse/agent"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// Check judges each thread as workload append does. All attempts of a request are one
// append. It also compares each counter with its thread.
func (w *dedupe) Check(ctx context.Context, h *history.History) check.Result {
	requests, repeated := 0, 0
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		d := &judge{Journal: workload.NewJournal(key, f), requests: map[requestID]*requestMade{}}
		if err := d.collect(ops); err != nil {
			return err
		}
		for _, id := range d.order {
			d.judgeRequest(d.requests[id])
		}
		for _, op := range ops {
			if op.Call == workload.CallRead && op.Outcome == history.OK {
				if err := d.judgeState(op); err != nil {
					return err
				}
			}
		}
		d.Judge()
		requests += len(d.order)
		repeated += d.repeated
		return nil
	})
	r.Counts["requests"], r.Counts["requests attempted again"] = requests, repeated
	return r
}

// requestID identifies a request. If the Go client numbers requests itself, the token
// alone identifies it.
type requestID struct {
	client string
	seq    uint64
	token  int64
}

// requestMade holds all attempts of a request.
type requestMade struct {
	in      dedupeIn
	ops     []history.Op // all attempts
	answers []history.Op // attempts with a known outcome
}

type judge struct {
	*workload.Journal
	requests map[requestID]*requestMade
	order    []requestID // by first attempt
	repeated int         // requests with more than one attempt
}

// collect groups the attempts by request, and judges calls that reuse the id of
// another request.
func (d *judge) collect(ops []history.Op) error {
	for _, op := range ops {
		if op.Call == workload.CallRead {
			continue
		}
		in, _, err := attemptOf(op)
		if err != nil {
			return err
		}
		if op.Call == callMismatch {
			d.Write(&workload.Written{Ops: []history.Op{op}, Invoke: op.Invoke, Outcome: history.Refused, Entries: []string{tokenName(in)}})
			if op.Outcome == history.OK {
				d.Findings.Add("request id taken twice", d.Key, []history.Op{op}, "call %d sent another commit under request %d of %s, which had been answered, and was not refused", op.ID, in.Seq, in.Client)
			}
			continue
		}
		id := requestID{client: in.Client, seq: in.Seq}
		if in.Seq == 0 {
			id.token = in.Token
		}
		r := d.requests[id]
		if r == nil {
			r = &requestMade{in: in}
			d.requests[id] = r
			d.order = append(d.order, id)
		}
		if len(r.ops) == 1 {
			d.repeated++
		}
		if op.Code == string(agent.CodeIdempotencyMismatch) {
			d.Findings.Add("taken for another commit", d.Key, append(slices.Clone(r.ops), op), "call %d was refused as another commit than the first under request %d of %s, which it was not", op.ID, in.Seq, in.Client)
		}
		r.ops = append(r.ops, op)
		if op.Outcome == history.OK {
			r.answers = append(r.answers, op)
		}
	}
	for _, id := range d.order {
		d.Write(d.requests[id].written())
	}
	return nil
}

func tokenName(in dedupeIn) string { return strconv.FormatInt(in.Token, 10) }

// written returns the request as an append. It is refused if the log refused it, or if
// no attempt can have reached the log.
func (r *requestMade) written() *workload.Written {
	w := &workload.Written{Ops: r.ops, Invoke: r.ops[0].Invoke, Outcome: history.Refused, Entries: []string{tokenName(r.in)}}
	for _, op := range r.ops {
		w.Invoke = min(w.Invoke, op.Invoke)
		if op.Outcome == history.Unknown {
			w.Outcome = history.Unknown
		}
	}
	if len(r.answers) == 0 {
		return w
	}
	w.Outcome = history.OK
	if _, out, err := attemptOf(r.answers[0]); err == nil && out.Refused {
		w.Outcome = history.Refused
	}
	return w
}

// judgeRequest judges the answers to one request. They must be equal, and consistent
// with an effect between the first invocation and the first return.
func (d *judge) judgeRequest(r *requestMade) {
	if len(r.answers) == 0 {
		return
	}
	first := r.answers[0]
	begun := history.Never
	for _, op := range r.ops {
		begun = min(begun, op.Invoke)
	}
	for _, op := range r.answers {
		if !bytes.Equal(op.Out, r.answers[0].Out) {
			d.Findings.Add("two answers to one request", d.Key, []history.Op{r.answers[0], op}, "calls %d and %d are attempts at one request, and were answered %s and %s",
				r.answers[0].ID, op.ID, r.answers[0].Out, op.Out)
		}
		if op.Return < first.Return {
			first = op
		}
	}
	_, out, err := attemptOf(first)
	if err != nil {
		return // collect has decoded it
	}
	decided := first
	decided.Invoke = begun
	if out.Refused {
		if r.in.Rev == nil || *r.in.Rev == out.Rev {
			d.Findings.Add("refused for no reason", d.Key, []history.Op{first}, "call %d was refused by a thread at rev %d, which is what it asked for", first.ID, out.Rev)
		}
		d.Stood(decided, out.Rev, out.Rev)
		return
	}
	if out.Rev != out.Seq+1 || out.Revision != out.Rev || r.in.Rev != nil && *r.in.Rev != out.Seq {
		d.Findings.Add("applied wrong", d.Key, []history.Op{first}, "call %d put its entry at seq %d, at rev %d, with the counter at revision %d: each commit adds one to both", first.ID, out.Seq, out.Rev, out.Revision)
	}
	d.Holds(first, out.Seq, []string{tokenName(r.in)})
	d.Stood(decided, out.Seq, out.Rev)
}

// judgeState checks that the same commits wrote thread and counter.
func (d *judge) judgeState(op history.Op) error {
	state, err := history.Decode[dedupeState](op.Out)
	if err != nil {
		return err
	}
	d.Holds(op, 0, state.Tokens)
	d.Stood(op, state.Rev, state.Rev)
	last := ""
	if n := len(state.Tokens); n > 0 {
		last = state.Tokens[n-1]
	}
	if uint64(len(state.Tokens)) != state.Rev || state.Revision != state.Rev || state.Counter != last {
		d.Findings.Add("thread and counter differ", d.Key, append(slices.Clone(d.writersOf(last, state.Counter)), op),
			"call %d saw rev %d with %d entries, the last %q, and the counter at revision %d with %q: each commit adds one to both",
			op.ID, state.Rev, len(state.Tokens), last, state.Revision, state.Counter)
	}
	return nil
}

// writersOf returns the attempts of some entries.
func (d *judge) writersOf(tokens ...string) (ops []history.Op) {
	for _, token := range tokens {
		if w := d.Writers[token]; w != nil {
			ops = append(ops, w.Ops...)
		}
	}
	return ops
}
