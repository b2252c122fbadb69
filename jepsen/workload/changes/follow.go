package changes

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// follow watches a feed for some polls: from its first change, or from about now on. A slow follower
// waits between its polls, so that the node must hold the feed back.
func follow(ctx context.Context, p *workload.Process, key string) {
	at := poll{From: 1}
	if p.Rand.IntN(2) == 0 {
		seen, err := list(ctx, p, key, 0)
		if err != nil {
			return
		}
		at.From = seen.Index
	}
	slow := p.Rand.IntN(2) == 0
	open := openFeed(ctx, p, key, at)
	defer func() { open.close() }()
	for range pollsMax {
		out := pollOnce(ctx, p, key, at, open)
		if out.End != "" && out.Floor == 0 {
			return
		}
		if at = after(at, out); out.Floor > 0 {
			open.close()
			open = openFeed(ctx, p, key, at)
		}
		if slow {
			workload.Hang(ctx, slowFor)
		}
		if !workload.Pace(ctx, p) {
			return
		}
		// It goes on in another watch, but not while it waits: then its client continues the watch after a lost connection.
		if len(out.Changes) > 0 && p.Rand.IntN(5) == 0 {
			open.close()
			open = openFeed(ctx, p, key, at)
		}
	}
}

// whole reads a feed from its beginning through an index.
func whole(ctx context.Context, p *workload.Process, key string, until uint64) error {
	ctx, cancel := context.WithTimeout(ctx, workload.CallMax)
	defer cancel()
	at := poll{From: 1, Until: until}
	open := openFeed(ctx, p, key, at)
	defer func() { open.close() }()
	for at.From <= until {
		out := pollOnce(ctx, p, key, at, open)
		if out.End != "" && out.Floor == 0 {
			return fmt.Errorf("the feed ended before index %d with %q", until, out.End)
		}
		if ctx.Err() != nil {
			return fmt.Errorf("the feed did not come to index %d: %w", until, ctx.Err())
		}
		if at = after(at, out); out.Floor > 0 {
			open.close()
			open = openFeed(ctx, p, key, at)
		}
	}
	return nil
}

// after returns the position after the answer to a poll.
func after(at poll, out polled) poll {
	if n := len(out.Changes); n > 0 {
		at.From, at.Skip = out.Changes[n-1].Index, out.Changes[n-1].Ordinal+1
	}
	if out.Floor > at.From {
		at.From, at.Skip = out.Floor, 0
	}
	if out.Through >= at.From {
		at.From, at.Skip = out.Through+1, 0
	}
	return at
}

// feed is an open watch of changes.
type feed struct {
	events <-chan event // closed at the end of the watch, unless it was cancelled
	close  func()       // cancels the watch and waits for its end
}

type event struct {
	agent.Event
	err error
}

func openFeed(ctx context.Context, p *workload.Process, key string, at poll) *feed {
	ctx, cut := context.WithCancel(ctx)
	events, ended := make(chan event), make(chan struct{}) // unbuffered: a slow reader holds the client back
	go func() {
		defer close(ended)
		watch := agent.Watch{Scope: scopeOf(p, key), Changes: true, From: at.From, Skip: at.Skip, Prefix: prefix}
		for e, err := range p.Client.Watch(ctx, watch) {
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
	return &feed{events: events, close: func() {
		cut()
		<-ended
	}}
}

// pollOnce waits up to pollMax for the next changes of an open watch.
func pollOnce(ctx context.Context, p *workload.Process, key string, at poll, open *feed) polled {
	out, _ := workload.Call(ctx, p, callPoll, key, false, at, func(ctx context.Context) (polled, error) {
		var out polled
		timeout := time.After(pollMax)
		for len(out.Changes) < pollTakes && out.End == "" {
			select {
			case e, more := <-open.events:
				out.take(e, more)
				if at.Until > 0 && out.Through >= at.Until {
					return out, nil
				}
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

// take adds one event; more is false if the watch's channel was closed.
func (out *polled) take(e event, more bool) {
	switch {
	case !more:
		out.End = "nothing"
	case e.err != nil:
		out.End = string(agent.CodeOf(e.err))
	case e.Last():
		end := agent.EndOfChanges(e.Event)
		out.End, out.Floor = string(end.Code), end.Floor
	default:
		for i := range e.Changes {
			c := &e.Changes[i]
			out.Changes = append(out.Changes, told{c.Index, c.Ordinal, c.Key, c.Deleted})
		}
		out.Through = max(out.Through, e.Through)
	}
}
