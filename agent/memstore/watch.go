package memstore

import (
	"context"
	"iter"
	"time"

	"dormouse/agent"
)

// Watch implements agent.Service. It looks at the store after each change, and when
// something in the scope expires.
func (st *Store) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		if err := w.Validate(); err != nil {
			yield(agent.Event{}, err)
			return
		}
		switch {
		case w.Changes:
			st.watchChanges(ctx, w, yield)
		case w.Claim != "":
			st.watchClaim(ctx, w, yield)
		default:
			st.watchThread(ctx, w, yield)
		}
	}
}

// view is the state of a scope at an index.
type view struct {
	*scope
	index   uint64
	feed    feed
	changed <-chan struct{} // closed by the next change
	wait    time.Duration   // until something in the scope expires; negative if nothing does
}

func (st *Store) view(name string) view {
	st.mu.Lock()
	defer st.mu.Unlock()
	st.refresh()
	v := view{scope: st.scope(name), index: st.index.Load(), feed: st.feeds[name], changed: st.changed, wait: -1}
	if due := v.due(); due != never {
		v.wait = time.Duration(due-st.wall()) * time.Millisecond
	}
	return v
}

// next waits until the store may have changed. It returns false if ctx ended.
func (v view) next(ctx context.Context) bool {
	var due <-chan time.Time
	if v.wait >= 0 {
		timer := time.NewTimer(max(v.wait, time.Millisecond))
		defer timer.Stop()
		due = timer.C
	}
	select {
	case <-v.changed:
	case <-due:
	case <-ctx.Done():
		return false
	}
	return true
}

func (st *Store) watchThread(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	incarnation := w.Incarnation
	for from := w.From; ; {
		v := st.view(w.Scope)
		t := v.threads[w.Thread]
		switch {
		case incarnation == 0 && t == nil:
			yield(agent.Event{}, notFound("thread", w.Thread))
			return
		case t == nil || incarnation != 0 && t.Incarnation != incarnation:
			yield(agent.Event{Kind: agent.EventDeleted}, nil)
			return
		case from < t.Floor:
			yield(agent.Event{Kind: agent.EventCompacted, Floor: t.Floor}, nil)
			return
		}
		incarnation = t.Incarnation
		for _, e := range agent.Slice(t.entries, from, t.Rev) {
			if !yield(agent.Event{Entry: e}, nil) {
				return
			}
			from++
		}
		if !v.next(ctx) {
			return
		}
	}
}

func (st *Store) watchClaim(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	for last := (*agent.Claim)(nil); ; {
		v := st.view(w.Scope)
		now := v.claims[w.Claim]
		if now == nil {
			now = &agent.Claim{Name: w.Claim}
		}
		if last == nil || last.Epoch != now.Epoch {
			if last = now; !yield(agent.Event{Kind: agent.EventClaim, Claim: *now}, nil) {
				return
			}
		}
		if !v.next(ctx) {
			return
		}
	}
}

func (st *Store) watchChanges(ctx context.Context, w agent.Watch, yield func(agent.Event, error) bool) {
	v := st.view(w.Scope)
	from, skip := w.From, w.Skip
	if from == 0 {
		from = v.index + 1
	}
	if from > v.index+1 {
		yield(agent.Event{}, agent.Invalid("from_index", "from_index = %d is past the end of the log: it may be at most %d", from, v.index+1))
		return
	}
	for {
		event := v.feed.since(from, skip, v.index, w.Prefix)
		if w.Body {
			addBodies(st, v.scope, event.Changes)
		}
		if !yield(event, nil) || event.Last() {
			return
		}
		from, skip = v.index+1, 0
		if !v.next(ctx) {
			return
		}
		v = st.view(w.Scope)
	}
}
