package hibernate

import (
	"context"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

func (w *hibernate) hibernate(ctx context.Context, p *workload.Process, l *knownAgent, h hibernation) bool {
	out, err := workload.Call(ctx, p, "hibernate", l.key, true, h, func(ctx context.Context) (hibernated, error) {
		put := agent.PutCheckpoint{Key: l.key, State: workload.MarkOf(h.By), IfRevision: h.Revision, Lifecycle: "idle"}
		r, err := p.Client.In(p.Scope).Hibernate(ctx, put, &agent.HibernateThread{
			Thread: l.key, Rev: h.rev(), FromSeq: h.From, Entries: h.drafts(l),
		})
		if err != nil {
			return hibernated{}, err
		}
		out := hibernated{Revision: r.Revision}
		if r.Thread != nil {
			out.Rev = r.Thread.Rev
		}
		return out, nil
	})
	if err != nil {
		return false
	}
	l.grown(h)
	l.revision = out.Revision
	return true
}

// append appends the new entries of h without putting the checkpoint.
func (w *hibernate) append(ctx context.Context, p *workload.Process, l *knownAgent, h hibernation) bool {
	old := len(h.Entries) - h.New
	_, err := workload.Call(ctx, p, "append", l.key, true, h, func(ctx context.Context) (uint64, error) {
		rev := l.rev
		r, err := p.Client.In(p.Scope).Append(ctx, agent.AppendThread{Thread: l.key, ExpectedRev: &rev, Entries: h.drafts(l)[old:]})
		if err != nil {
			return 0, err
		}
		return r.Thread.Rev, nil
	})
	if err != nil {
		return false
	}
	l.grown(h)
	return true
}

// catchUp reads the entries after the pointer.
func (w *hibernate) catchUp(ctx context.Context, p *workload.Process, l *knownAgent) bool {
	from := l.rev
	var found []agent.Entry
	out, err := workload.Call(ctx, p, "load", l.key, false, from, func(ctx context.Context) (caughtUp, error) {
		at := caughtUp{}
		r, err := p.Client.In(p.Scope).Load(ctx, agent.LoadEntries{Thread: l.key, From: from, Limit: agent.EntriesLimitMax})
		if agent.CodeOf(err) == agent.CodeNotFound {
			return at, nil
		}
		if err != nil {
			return at, err
		}
		found, at.Rev, at.Floor = r.Items, r.Thread.Rev, r.Thread.Floor
		for _, e := range r.Items {
			at.Entries = append(at.Entries, workload.NameIn(e.Payload))
		}
		return at, nil
	})
	if err != nil {
		return false
	}
	l.rev = out.Rev
	for i, e := range found {
		l.entries = append(l.entries, knownEntry{out.Entries[i], e.ID})
	}
	return true
}

func (*hibernate) thaw(ctx context.Context, p *workload.Process, key string, t thawing) (out thawed, entries []knownEntry, err error) {
	out, err = workload.Call(ctx, p, "thaw", key, false, t, func(ctx context.Context) (thawed, error) {
		found, err := t.ask(ctx, p, key)
		if agent.CodeOf(err) == agent.CodeNotFound {
			return thawed{}, nil
		}
		if err != nil {
			return thawed{}, err
		}
		out := thawed{Revision: found.Checkpoint.Revision, By: workload.NameIn(found.Checkpoint.State), Ahead: found.Ahead}
		if found.Checkpoint.Thread != nil {
			out.Rev = found.Checkpoint.Thread.Rev
		}
		if found.Thread != nil {
			out.Floor = found.Thread.Floor
		}
		for _, e := range found.Entries {
			out.Entries = append(out.Entries, workload.NameIn(e.Payload))
			entries = append(entries, knownEntry{workload.NameIn(e.Payload), e.ID})
		}
		return out, nil
	})
	return out, entries, err
}

// ask thaws with the method that a user would call.
func (t thawing) ask(ctx context.Context, p *workload.Process, key string) (*agent.Thawed, error) {
	switch at := p.Client.In(p.Scope); {
	case t.Revision == 0 && t.Tail == 0:
		return at.Thaw(ctx, key)
	case t.Revision == 0:
		return at.ThawTail(ctx, key, t.Tail)
	}
	answers, err := p.Client.Read(ctx, agent.Reads{Scope: p.Scope, Reads: []agent.Read{&agent.Thaw{Key: key, Revision: t.Revision, Tail: &t.Tail}}})
	if err != nil {
		return nil, err
	}
	if len(answers.Answers) != 1 {
		return nil, agent.Errorf(agent.CodeInternal, "one read has %d answers", len(answers.Answers))
	}
	if answers.Answers[0].Err != nil {
		return nil, answers.Answers[0].Err
	}
	found, is := answers.Answers[0].Found.(*agent.Thawed)
	if !is {
		return nil, agent.Errorf(agent.CodeInternal, "the answer is a %T", answers.Answers[0].Found)
	}
	return found, nil
}

// compact removes some of an agent's first entries. It may try to remove entries that
// the checkpoint still needs.
func (w *hibernate) compact(ctx context.Context, p *workload.Process, key string) {
	found, _, err := w.thaw(ctx, p, key, thawing{Tail: tail})
	if err != nil || found.Revision == 0 {
		return
	}
	before := found.Rev + found.Ahead
	if p.Rand.IntN(2) == 0 {
		before = found.Floor + p.Rand.Uint64N(found.Rev-found.Floor+1)
	}
	_, _ = workload.Call(ctx, p, "compact", key, true, before, func(ctx context.Context) (caughtUp, error) {
		r, err := p.Client.In(p.Scope).CompactThread(ctx, agent.CompactThread{Thread: key, BeforeSeq: before})
		if err != nil {
			return caughtUp{}, err
		}
		return caughtUp{Rev: r.Thread.Rev}, nil
	})
}

// history lists the kept revisions of an agent, and thaws an older one.
func (w *hibernate) history(ctx context.Context, p *workload.Process, key string) {
	rows, err := workload.Call(ctx, p, "history", key, false, struct{}{}, func(ctx context.Context) ([]keptRevision, error) {
		list, err := p.Client.In(p.Scope).CheckpointHistory(ctx, key)
		if agent.CodeOf(err) == agent.CodeNotFound {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		rows := make([]keptRevision, len(list.Items))
		for i, row := range list.Items {
			rows[i].Revision = row.Revision
			if row.Thread != nil {
				rows[i].Rev = row.Thread.Rev
			}
		}
		return rows, nil
	})
	if err != nil || len(rows) < 2 {
		return
	}
	_, _, _ = w.thaw(ctx, p, key, thawing{Tail: tail, Revision: rows[1+p.Rand.IntN(len(rows)-1)].Revision})
}
