package register

import (
	"context"
	"fmt"
	"slices"
	"time"

	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
	"dormouse/jepsen/workload"
)

const searchMax = 20 * time.Second // for the search for an order of one key's calls

// Check searches for an order of each key's calls that explains every answer. It skips
// the search if the answers contradict each other directly.
func (w *register) Check(ctx context.Context, h *history.History) check.Result {
	var open []string // keys whose search ran out of time
	r := workload.ByKey(ctx, w.Name(), h, func(key string, ops []history.Op, f *workload.Findings) error {
		calls, err := callsOf(ops)
		if err != nil {
			return err
		}
		k := &registerKey{
			ctx: ctx, linear: model.Registers(), key: key, ops: ops, calls: calls, findings: f,
			writers: map[model.Position]model.Call{},
		}
		if k.direct() {
			return nil
		}
		switch k.linear.Judge(calls, within(ctx, searchMax)) {
		case model.Explained:
		case model.OutOfTime:
			open = append(open, key)
		case model.Contradicted:
			k.contradicted()
		}
		return nil
	})
	if r.Verdict == check.OK && len(open) > 0 {
		r.Verdict = check.Unknown
		r.Why = fmt.Sprintf("the search for an order of the calls of %d keys did not end within %v each, first of %s", len(open), searchMax, open[0])
	}
	return r
}

// within returns longest, or the time that ctx leaves if that is shorter.
func within(ctx context.Context, longest time.Duration) time.Duration {
	if end, bounded := ctx.Deadline(); bounded {
		return min(longest, time.Until(end))
	}
	return longest
}

// callsOf returns a key's calls in the form of the model; a Tag is the index in ops.
// It omits calls without effect and answer.
func callsOf(ops []history.Op) ([]model.Call, error) {
	calls := make([]model.Call, 0, len(ops))
	for i, op := range ops {
		if op.Outcome == history.Refused || op.Outcome == history.Unknown && op.Call == model.RegisterGet {
			continue
		}
		in := &model.RegisterCall{Name: op.Call}
		var err error
		if in.RegisterIn, err = history.Decode[model.RegisterIn](op.In); err != nil {
			return nil, fmt.Errorf("call %d: %w", op.ID, err)
		}
		call := model.Call{Span: model.Span{Invoke: op.Invoke, Return: op.Return}, Process: op.Process, In: in, Tag: i}
		if op.Outcome == history.OK {
			out, err := history.Decode[model.RegisterOut](op.Out)
			if err != nil {
				return nil, fmt.Errorf("call %d: %w", op.ID, err)
			}
			call.Out = &out
		}
		calls = append(calls, call)
	}
	return calls, nil
}

// registerKey is the judgement of one key.
type registerKey struct {
	ctx      context.Context //nolint:containedctx // the check's
	linear   model.Linear
	key      string
	ops      []history.Op
	calls    []model.Call
	findings *workload.Findings
	broken   bool                          // a rule was broken
	writers  map[model.Position]model.Call // answered calls, by the position that they wrote
}

// contradicted adds the finding of calls without an order: the shortest part that
// shows it.
func (k *registerKey) contradicted() {
	const rule = "not linearizable"
	if k.findings.Broken[rule] >= workload.FindingsKept {
		k.findings.Add(rule, k.key, nil, "") // count it without showing it
		return
	}
	part, whole := k.linear.Shortest(k.calls, within(k.ctx, workload.ShortestMax))
	slices.SortFunc(part, func(a, b model.Call) int { return a.Tag - b.Tag })
	shown := make([]history.Op, len(part))
	last := part[0]
	for i, call := range part {
		shown[i] = k.ops[call.Tag]
		if call.Out != nil && (last.Out == nil || call.Return > last.Return) {
			last = call
		}
	}
	begin := "beginning with the key's first call"
	if !whole {
		begin = "with any state before them"
	}
	culprit := k.ops[last.Tag]
	more := k.findings.Add(rule, k.key, shown, "call %d of process %d, %s, has no place in any order of these %d calls, %s",
		culprit.ID, culprit.Process, k.linear.Describe(last.In, last.Out), len(part), begin)
	k.draw(more, part, whole)
}

// add adds the finding that some calls contradict each other directly.
func (k *registerKey) add(rule string, tags []int, format string, args ...any) {
	k.broken = true
	slices.Sort(tags)
	var shown []history.Op
	var part []model.Call
	for _, c := range k.calls {
		if slices.Contains(tags, c.Tag) {
			shown, part = append(shown, k.ops[c.Tag]), append(part, c)
		}
	}
	k.draw(k.findings.Add(rule, k.key, shown, format, args...), part, false)
}

// draw adds porcupine's picture of a finding's calls; f is nil if enough findings are
// kept.
func (k *registerKey) draw(f *check.Finding, part []model.Call, whole bool) {
	if f == nil {
		return
	}
	picture, err := k.linear.Picture(part, whole, workload.ShortestMax)
	if err != nil {
		f.Detail += fmt.Sprintf(" (there is no picture: %v)", err)
		return
	}
	f.Picture = picture
}
