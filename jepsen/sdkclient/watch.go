package sdkclient

import (
	"context"
	"fmt"
	"iter"

	"dormouse/agent"
	"dormouse/jepsen/httpclient"
)

// Watch implements agent.Service with the streams of the library. They continue by themselves after a lost connection, also
// those of a process that is bound to one node.
func (c *Client) Watch(ctx context.Context, w agent.Watch) iter.Seq2[agent.Event, error] {
	return func(yield func(agent.Event, error) bool) {
		l, err := c.send(map[string]any{"scope": w.Scope}, watchDocument(w))
		if err != nil {
			yield(agent.Event{}, err)
			return
		}
		defer c.stop(l)
		for {
			select {
			case o := <-l.outcomes:
				event, err := o.event(w)
				if more := yield(event, err); err != nil || !more || event.Last() {
					return
				}
			case <-c.ended:
				yield(agent.Event{}, c.broken)
				return
			case <-ctx.Done():
				return
			}
		}
	}
}

// stop ends a watch of the program.
func (c *Client) stop(l *listener) {
	c.leave(l)
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = c.program.Stdin.Write(append(encode(map[string]int{"stop": l.id}), '\n')) // a program that has ended has no watches
}

// watchDocument returns the members of a watch in the line of a program.
func watchDocument(w agent.Watch) []byte {
	m := map[string]any{}
	switch {
	case w.Changes && w.Skip > 0:
		m["changes"], m["after"] = true, fmt.Sprintf("%d.%d", w.From, w.Skip-1)
	case w.Changes:
		m["changes"], m["from"] = true, w.From
	case w.Claim != "":
		m["claim"] = w.Claim
	default:
		m["thread"], m["from"] = w.Thread, w.From
	}
	if w.Prefix != "" {
		m["prefix"] = w.Prefix
	}
	if w.Incarnation > 0 {
		m["incarnation"] = w.Incarnation
	}
	return encode(map[string]any{"watch": m})
}

// event returns what the program tells of a watch. A refusal that says how its thread or feed ended is an event.
func (o outcome) event(w agent.Watch) (agent.Event, error) {
	switch {
	case o.Event != nil && w.Changes:
		event, err := httpclient.EventOf("change", o.Place, string(o.Event))
		if err == nil && o.Place != fmt.Sprintf("%d.%d", event.Changes[0].Index, event.Changes[0].Ordinal) {
			err = agent.Errorf(agent.CodeInternal, "a change has the place %q: %s", o.Place, o.Event)
		}
		return event, err
	case o.Event != nil && w.Claim != "":
		return httpclient.EventOf("claim", "", string(o.Event))
	case o.Event != nil:
		return httpclient.EventOf("entry", "", string(o.Event))
	case o.Refused != nil:
		err := httpclient.Problem(o.Refused)
		switch e, is := err.(*agent.Error); { //nolint:errorlint // as Problem made it
		case is && e.Code == agent.CodeDeleted && w.Claim == "":
			return agent.Event{Kind: agent.EventDeleted}, nil
		case is && e.Code == agent.CodeCompacted && w.Claim == "":
			return agent.Event{Kind: agent.EventCompacted, Floor: e.Floor}, nil
		}
		return agent.Event{}, err
	case o.Ended:
		return agent.Event{}, agent.Errorf(agent.CodeInternal, "the library's stream ended without an error")
	default:
		return agent.Event{}, agent.Errorf(agent.CodeInternal, "this is no event of the library: %s", o.Broken)
	}
}
