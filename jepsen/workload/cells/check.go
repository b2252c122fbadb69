package cells

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

// searchMax bounds the search for an order of one key's calls.
const searchMax = 20 * time.Second

// Check searches for an order of each key's calls that explains every answer.
func (*cells) Check(ctx context.Context, h *history.History) check.Result {
	open := 0 // keys whose search ran out of time
	r := workload.ByKey(ctx, Name, h, func(key string, ops []history.Op, f *workload.Findings) error {
		j := &judge{key: key, ops: ops, findings: f, author: map[string]int{}}
		if err := j.load(); err != nil {
			return err
		}
		if j.direct() {
			return nil
		}
		if j.search(ctx) == model.OutOfTime {
			open++
		}
		return nil
	})
	if r.Verdict == check.OK && open > 0 {
		r.Verdict, r.Why = check.Unknown, fmt.Sprintf("the search for an order of the calls of %d keys did not end within %v each", open, searchMax)
	}
	return r
}

// judge is the judgement of one key's cells. Calls are identified by their place in ops.
type judge struct {
	key      string
	ops      []history.Op
	findings *workload.Findings

	in     []call
	out    []*answer      // nil if the outcome is not ok
	author map[string]int // :: value → the call that writes it
}

func (j *judge) load() error {
	j.in, j.out = make([]call, len(j.ops)), make([]*answer, len(j.ops))
	for at, op := range j.ops {
		var err error
		if op.Call != workload.CallRead {
			if j.in[at], err = history.Decode[call](op.In); err != nil {
				return err
			}
			for _, value := range j.in[at].Write {
				if value != "" && value != none {
					j.author[value] = at
				}
			}
		}
		if op.Outcome == history.OK {
			out, err := history.Decode[answer](op.Out)
			if err != nil {
				return err
			}
			j.out[at] = &out
		}
	}
	return nil
}

// direct finds what contradicts itself without a search.
func (j *judge) direct() (found bool) {
	add := func(rule string, calls []int, format string, args ...any) {
		found = true
		j.findings.Add(rule, j.key, workload.CallsOf(j.ops, calls...), format, args...)
	}
	for at, op := range j.ops {
		if op.Call != workload.CallRead || j.out[at] == nil {
			continue
		}
		for cell, value := range j.out[at].Cells {
			by, known := j.author[value]
			switch {
			case value == none:
			case !known || j.in[by].Write[cell] != value:
				add("value from nowhere", []int{at}, "%s found %q in cell %d, which no call wrote there", workload.NameOf(op), value, cell)
			case j.ops[by].Outcome == history.Refused:
				add("refused but there", []int{by, at}, "%s was refused as %s, and %s found its value in cell %d", workload.NameOf(j.ops[by]), j.ops[by].Code, workload.NameOf(op), cell)
			case j.out[by] != nil && j.out[by].Kept:
				add("kept but there", []int{by, at}, "%s was told that its condition did not hold, and %s found its value in cell %d", workload.NameOf(j.ops[by]), workload.NameOf(op), cell)
			case j.ops[by].Invoke > op.Return:
				add("read from the future", []int{at, by}, "%s found the value of %s, which had not begun", workload.NameOf(op), workload.NameOf(j.ops[by]))
			}
		}
	}
	return found
}

// search looks for an order without the unknown calls whose values no read shows, which need not have been
// applied, and with them if there is none.
func (j *judge) search(ctx context.Context) model.Judgement {
	seen := map[string]bool{}
	for at := range j.ops {
		if j.out[at] != nil {
			for _, value := range j.out[at].Cells {
				seen[value] = true
			}
		}
	}
	unseen := func(at int) bool {
		return j.ops[at].Outcome == history.Unknown && !slices.ContainsFunc(j.in[at].Write[:], func(value string) bool { return value == none || seen[value] })
	}
	linear := cellsModel()
	judgement := linear.Judge(j.calls(unseen), within(ctx))
	if judgement == model.Contradicted {
		if judgement = linear.Judge(j.calls(nil), within(ctx)); judgement == model.Contradicted {
			j.contradicted(linear)
		}
	}
	return judgement
}

// calls returns the calls that may have had an effect, without some.
func (j *judge) calls(without func(at int) bool) (calls []model.Call) {
	for at, op := range j.ops {
		if op.Outcome == history.Refused || op.Call == workload.CallRead && j.out[at] == nil || without != nil && without(at) {
			continue
		}
		c := model.Call{Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Process: op.Process, In: &step{op.Call, j.in[at]}, Tag: at}
		if out := j.out[at]; out != nil {
			c.Out = out
		} else {
			c.Return = history.Never
		}
		calls = append(calls, c)
	}
	return calls
}

// contradicted adds the finding, with the calls up to the first that no order of those before it explains.
func (j *judge) contradicted(linear model.Linear) {
	calls := j.calls(nil)
	slices.SortFunc(calls, func(a, b model.Call) int { return cmp.Compare(a.Return, b.Return) })
	last := len(calls) - 1
	for n := range calls { // the first prefix by time of return that has no order
		if calls[n].Out != nil && linear.Judge(prefix(calls, n), time.Second) == model.Contradicted {
			last = n
			break
		}
	}
	shown := []int{calls[last].Tag}
	for _, c := range calls[max(0, last-6):last] {
		shown = append(shown, c.Tag)
	}
	op := j.ops[calls[last].Tag]
	f := j.findings.Add("no order explains it", j.key, workload.CallsOf(j.ops, shown...), "no order of the calls explains %s (%s)", workload.NameOf(op), linear.Describe(calls[last].In, calls[last].Out))
	if f != nil {
		if page, err := linear.Picture(prefix(calls, last), true, time.Second); err == nil {
			f.Picture = page
		}
	}
}

// prefix returns the calls that returned up to the nth, and those that began before and may have had an effect.
func prefix(calls []model.Call, n int) (some []model.Call) {
	for i, c := range calls {
		switch {
		case i <= n:
			some = append(some, c)
		case c.Invoke < calls[n].Return:
			c.Out, c.Return = nil, history.Never
			some = append(some, c)
		}
	}
	return some
}

func within(ctx context.Context) time.Duration {
	if end, bounded := ctx.Deadline(); bounded {
		return min(searchMax, time.Until(end))
	}
	return searchMax
}

// step is a call of the model.
type step struct {
	name string
	call
}

// cellsModel returns the sequential specification: an array of cells.
func cellsModel() model.Linear {
	return model.Linear{
		Init: [count]string(slices.Repeat([]string{none}, count)),
		Search: func([]model.Call) func(state, in, out any) (any, bool) {
			return func(state, in, out any) (any, bool) {
				told, _ := out.(*answer)
				return in.(*step).apply(state.([count]string), told)
			}
		},
		Describe: func(in, out any) string {
			s := in.(*step)
			if told, is := out.(*answer); is && told != nil {
				return fmt.Sprintf("%s: %v, kept %t", s.words(s.name), told.Cells, told.Kept)
			}
			return s.words(s.name) + ": unknown"
		},
	}
}

// apply returns the state after a call, and whether the answer is possible; nil is an unknown outcome.
func (s *step) apply(state [count]string, told *answer) (any, bool) {
	if s.name == workload.CallRead {
		return state, told == nil || told.Cells == state
	}
	next, holds := state, true
	for at, value := range s.Write {
		if value == "" {
			continue
		}
		next[at] = value
		holds = holds && (!s.Fresh || state[at] == none) && (s.Old == "" || state[at] == s.Old)
	}
	if !holds {
		next = state
	}
	return next, told == nil || told.Kept != holds
}
