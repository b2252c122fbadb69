package claim

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

func (w *claim) take(ctx context.Context, p *workload.Process, key string, h Call) (Seen, error) {
	return w.change(ctx, p, "take", key, h, &agent.TakeClaim{Claim: key, Holder: h.Holder, TTL: h.TTL})
}

func (w *claim) renew(ctx context.Context, p *workload.Process, key string, h Call) (Seen, error) {
	return w.change(ctx, p, "renew", key, h, &agent.RenewClaim{Claim: key, Holder: h.Holder, Epoch: h.Epoch})
}

func (w *claim) release(ctx context.Context, p *workload.Process, key string, h Call) (Seen, error) {
	return w.change(ctx, p, "release", key, h, &agent.ReleaseClaim{Claim: key, Holder: h.Holder, Epoch: h.Epoch, To: h.To})
}

// change commits an op on the claim itself.
func (*claim) change(ctx context.Context, p *workload.Process, call, key string, h Call, op agent.Op) (Seen, error) {
	return workload.Call(ctx, p, call, key, true, h, func(ctx context.Context) (Seen, error) {
		ops := []agent.Op{op}
		if h.Mark != "" {
			ops = append(ops, &agent.AppendThread{Thread: key, Entries: []agent.Draft{{Payload: workload.MarkOf(h.Mark)}}})
		}
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: ops})
		if err != nil {
			return Seen{}, err
		}
		out := Seen{Index: result.Index}
		for _, r := range result.Results {
			switch r := r.(type) {
			case *agent.ClaimResult:
				out.Epoch, out.Holder = r.Claim.Epoch, r.Claim.Holder
			case *agent.ThreadResult:
				out.Rev = r.Thread.Rev
			}
		}
		return out, nil
	})
}

func (*claim) get(ctx context.Context, p *workload.Process, key string) (Seen, error) {
	return workload.Call(ctx, p, "get", key, false, struct{}{}, func(ctx context.Context) (Seen, error) {
		index, answers, err := workload.FindAll(ctx, p, &agent.GetClaim{Claim: key})
		if err != nil {
			return Seen{}, err
		}
		switch found := answers[0].(type) {
		case *agent.Claim:
			return Seen{Epoch: found.Epoch, Holder: found.Holder, Index: index}, nil
		case nil:
			return Seen{Index: index}, nil
		default:
			return Seen{}, agent.Errorf(agent.CodeInternal, "the answer is a %T", found)
		}
	})
}

func (w *claim) write(ctx context.Context, p *workload.Process, key string, epoch uint64) {
	in := FencedWrite{Name: workload.WriteName(p, w.writes.Add(1)), Epoch: epoch, Value: p.Rand.IntN(3) == 0}
	_, _ = workload.Call(ctx, p, "write", key, true, in, func(ctx context.Context) (FencedWrote, error) {
		c := agent.Commit{Scope: p.Scope, Fence: &agent.Fence{Claim: key, Epoch: in.Epoch}, Ops: []agent.Op{
			&agent.AppendThread{Thread: key, Entries: []agent.Draft{{Payload: workload.MarkOf(in.Name)}}},
		}}
		if in.Value {
			c.Ops = append(c.Ops, &agent.PutValue{Key: key, Bytes: workload.MarkOf(in.Name)})
		}
		result, err := p.Client.Commit(ctx, c)
		if err != nil {
			return FencedWrote{}, err
		}
		out := FencedWrote{Index: result.Index}
		for _, r := range result.Results {
			switch r := r.(type) {
			case *agent.ThreadResult:
				out.Seq = r.Thread.Rev - 1
			case *agent.ValueResult:
				out.Revision = r.Revision
			}
		}
		return out, nil
	})
}

// load reads the thread and the value. It reads the last tail entries of the thread,
// or all if tail is 0.
func (*claim) load(ctx context.Context, p *workload.Process, key string, tail uint64) error {
	_, err := workload.Call(ctx, p, "load", key, false, tail, func(ctx context.Context) (FencedSeen, error) {
		index, answers, err := workload.FindAll(ctx, p,
			&agent.LoadEntries{Thread: key, Tail: tail, Limit: agent.EntriesLimitMax}, &agent.GetValue{Key: key})
		if err != nil {
			return FencedSeen{}, err
		}
		out := FencedSeen{Index: index}
		for _, found := range answers {
			switch found := found.(type) {
			case *agent.Entries:
				out.Rev = found.Thread.Rev
				for _, e := range found.Items {
					out.Entries = append(out.Entries, workload.NameIn(e.Payload))
				}
			case *agent.Value:
				out.Revision, out.Value = found.Revision, workload.NameIn(found.Bytes)
			}
		}
		return out, nil
	})
	return err
}
