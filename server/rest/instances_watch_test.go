package rest_test

import (
	"context"
	"iter"
	"testing"

	"dormouse/agent"
	"dormouse/server/rest"
)

// telling yields two changes, and then ends.
type telling struct {
	agent.Instances
	asked agent.InstanceWatch
	fails error
}

func (h *telling) Watch(_ context.Context, w agent.InstanceWatch) iter.Seq2[agent.InstanceEvent, error] {
	h.asked = w
	return func(yield func(agent.InstanceEvent, error) bool) {
		if h.fails != nil {
			yield(agent.InstanceEvent{}, h.fails)
			return
		}
		ref := agent.InstanceRef{Scope: w.Scope, Manager: w.Manager, Key: "k"}
		for _, e := range []agent.InstanceEvent{
			{Missed: true, Reason: "the watch begins"},
			{InstanceRef: ref, Node: "n2", Epoch: 9, Status: agent.InstanceAwake, Reason: agent.ReasonThawed, At: 12},
			{Missed: true, Node: "n2", Reason: "n2 is gone"},
		} {
			if !yield(e, nil) {
				return
			}
		}
		yield(agent.InstanceEvent{}, agent.Errorf(agent.CodeUnavailable, "the node is stopping"))
	}
}

func TestInstancesAreWatched(t *testing.T) {
	h := &telling{}
	k := newKitWith(t, rest.Options{Node: "n1", Instances: h})
	got := k.call("GET", "/v1/managers/m%2F1/watch?scope=acme", "")
	const want = `: the watch is open

event: missed
data: {"reason":"the watch begins"}

event: instance
data: {"manager":"m/1","key":"k","node":"n2","epoch":9,"status":"awake","reason":"thawed","at":12}

event: missed
data: {"node":"n2","reason":"n2 is gone"}

event: problem
data: {"type":"urn:dormouse:problem:unavailable","title":"The node cannot serve this now; nothing was applied","status":503,"detail":"the node is stopping","code":"unavailable"}

`
	if got.Code != 200 || got.Body.String() != want || got.Header().Get("Content-Type") != "text/event-stream" {
		t.Errorf("%d\n%s\nwant\n%s", got.Code, got.Body, want)
	}
	if h.asked != (agent.InstanceWatch{Scope: "acme", Manager: "m/1"}) {
		t.Errorf("asked for %+v", h.asked)
	}
	k.call("GET", "/v1/managers/m/instances/k%2F1/watch", "")
	if h.asked != (agent.InstanceWatch{Scope: agent.DefaultScope, Manager: "m", Key: "k/1"}) {
		t.Errorf("asked for %+v", h.asked)
	}
	h.fails = agent.Errorf(agent.CodeOverloaded, "too many watch")
	k.call("GET", "/v1/managers/m/watch", "").problem(429, "overloaded")
	k.call("GET", "/v1/managers/m/watch?key=k", "").problem(400, "invalid")
}
