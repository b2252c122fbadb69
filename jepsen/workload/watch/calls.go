package watch

import (
	"context"
	"math"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

func (w *watch) append(ctx context.Context, p *workload.Process, key string) (appended, error) {
	a := watchAppend{By: workload.WriteName(p, w.appends.Add(1)), Entries: 1 + p.Rand.IntN(3), IDs: p.Rand.IntN(4) == 0}
	return workload.Call(ctx, p, "append", key, true, a, func(ctx context.Context) (appended, error) {
		op := agent.AppendThread{Thread: key}
		for i := range a.Entries {
			draft := agent.Draft{Kind: agent.KindMessage, Payload: workload.MarkOf(a.name(i))}
			if a.IDs {
				draft.ID = a.name(i)
			}
			op.Entries = append(op.Entries, draft)
		}
		r, err := p.Client.In(p.Scope).Append(ctx, op)
		if err != nil {
			return appended{}, err
		}
		if len(r.Entries) != a.Entries {
			return appended{}, agent.Errorf(agent.CodeInternal, "%d entries have %d stamps", a.Entries, len(r.Entries))
		}
		return appended{Incarnation: r.Thread.Incarnation, Seq: r.Entries[0].Seq, Rev: r.Thread.Rev}, nil
	})
}

// load reads a thread with its last tail entries, or all if tail is 0.
func (*watch) load(ctx context.Context, p *workload.Process, key string, tail uint64) (loaded, error) {
	return workload.Call(ctx, p, "load", key, false, tail, func(ctx context.Context) (loaded, error) {
		r, err := p.Client.In(p.Scope).Load(ctx, agent.LoadEntries{Thread: key, Tail: tail, Limit: agent.EntriesLimitMax})
		if agent.CodeOf(err) == agent.CodeNotFound {
			return loaded{}, nil
		}
		if err != nil {
			return loaded{}, err
		}
		out := loaded{Incarnation: r.Thread.Incarnation, Rev: r.Thread.Rev, Floor: r.Thread.Floor}
		for _, e := range r.Items {
			out.Entries = append(out.Entries, workload.NameIn(e.Payload))
		}
		return out, nil
	})
}

// compact removes the entries below a seq. It records the new floor.
func (*watch) compact(ctx context.Context, p *workload.Process, key string, before uint64) {
	_, _ = workload.Call(ctx, p, "compact", key, true, before, func(ctx context.Context) (loaded, error) {
		r, err := p.Client.In(p.Scope).CompactThread(ctx, agent.CompactThread{Thread: key, BeforeSeq: before})
		if err != nil {
			return loaded{}, err
		}
		return loaded{Incarnation: r.Thread.Incarnation, Rev: r.Thread.Rev, Floor: r.Thread.Floor}, nil
	})
}

// untold is the incarnation in the record of a delete whose answer does not say what it deleted.
const untold = math.MaxUint64

// delete deletes a thread. It records the incarnation, or 0 if the thread did not
// exist.
func (*watch) delete(ctx context.Context, p *workload.Process, key string) {
	_, _ = workload.Call(ctx, p, "delete", key, true, struct{}{}, func(ctx context.Context) (uint64, error) {
		r, err := p.Client.In(p.Scope).DeleteThread(ctx, agent.DeleteThread{Thread: key})
		switch {
		case err != nil:
			return 0, err
		case !workload.Told(r):
			return untold, nil
		case !r.Existed:
			return 0, nil
		}
		return r.Incarnation, nil
	})
}

// poll waits up to pollMax for events of an open watch.
func (*watch) poll(ctx context.Context, p *workload.Process, key string, poll watchPoll, open *watching) polled {
	out, _ := workload.Call(ctx, p, "poll", key, false, poll, func(ctx context.Context) (polled, error) {
		var out polled
		timeout := time.After(pollMax)
		for len(out.Seqs) < pollEntries && out.End == "" {
			select {
			case e, more := <-open.events:
				out.take(e, more)
				continue
			default:
			}
			if len(out.Seqs) > 0 {
				break
			}
			select {
			case e, more := <-open.events:
				out.take(e, more)
			case <-timeout:
				return out, nil
			case <-ctx.Done():
				return out, nil
			}
		}
		return out, nil
	})
	return out
}

// take adds one event of a watch; more is false if its channel was closed.
func (out *polled) take(e event, more bool) {
	switch {
	case !more:
		out.End = endSilent
	case e.err != nil:
		out.End = string(agent.CodeOf(e.err))
	case e.Kind == agent.EventDeleted:
		out.End = endDeleted
	case e.Kind == agent.EventCompacted:
		out.End, out.Floor = endCompacted, e.Floor
	default:
		out.Seqs, out.Entries = append(out.Seqs, e.Entry.Seq), append(out.Entries, workload.NameIn(e.Entry.Payload))
	}
}

// watching is an open watch.
type watching struct {
	events <-chan event // closed at the end of the watch, unless the watch was cancelled
	close  func()       // cancels the watch and waits for its end
}

type event struct {
	agent.Event
	err error
}

// openWatch opens a watch that lasts until ctx ends or close is called.
func openWatch(ctx context.Context, p *workload.Process, w agent.Watch) *watching {
	ctx, cut := context.WithCancel(ctx)
	events, ended := make(chan event, pollEntries), make(chan struct{})
	go func() {
		defer close(ended)
		for e, err := range p.Client.Watch(ctx, w) {
			select {
			case events <- event{e, err}:
			case <-ctx.Done():
				return
			}
		}
		if ctx.Err() == nil {
			close(events)
		}
	}()
	return &watching{events: events, close: func() {
		cut()
		<-ended
	}}
}
