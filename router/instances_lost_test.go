package router_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/router"
)

// forgetful is an owner that handles calls, and whose first answers are lost.
type forgetful struct {
	agent.Instances
	lost    int   // the number of answers that are lost
	then    error // of later calls
	handled int
}

func (f *forgetful) handle() error {
	if f.handled++; f.handled > f.lost {
		return f.then
	}
	err := agent.Errorf(agent.CodeUnknown, "the connection broke")
	err.Reason = agent.ReasonUnreachable
	return err
}

func (f *forgetful) Start(_ context.Context, ref agent.InstanceRef, _ agent.StartInstance) (agent.Instance, error) {
	return agent.Instance{InstanceRef: ref}, f.handle()
}

func (f *forgetful) Attach(context.Context, agent.InstanceRef, agent.Attach) (agent.Attached, error) {
	return agent.Attached{}, f.handle()
}

func (f *forgetful) Touch(context.Context, agent.InstanceRef, string) error  { return f.handle() }
func (f *forgetful) Detach(context.Context, agent.InstanceRef, string) error { return f.handle() }
func (f *forgetful) Stop(context.Context, agent.InstanceRef) error           { return f.handle() }

func (f *forgetful) Signal(context.Context, agent.InstanceRef, agent.Signal) (agent.Reply, error) {
	return agent.Reply{Node: "a"}, f.handle()
}

// CL-8: a call whose answer was lost may have been handled. It is made again if that is safe, and
// without an answer its outcome is unknown.
func TestCL8_ALostAnswerIsUnknown(t *testing.T) {
	calls := map[string]func(context.Context, *router.Instances) error{
		"start": func(ctx context.Context, r *router.Instances) error {
			_, err := r.Start(ctx, ref, agent.StartInstance{})
			return err
		},
		"attach": func(ctx context.Context, r *router.Instances) error {
			_, err := r.Attach(ctx, ref, agent.Attach{})
			return err
		},
		"touch":  func(ctx context.Context, r *router.Instances) error { return r.Touch(ctx, ref, "x") },
		"detach": func(ctx context.Context, r *router.Instances) error { return r.Detach(ctx, ref, "x") },
		"signal with a request id": func(ctx context.Context, r *router.Instances) error {
			_, err := r.Signal(ctx, ref, agent.Signal{Type: "x", Request: agent.Request{Client: "c", Seq: 1}})
			return err
		},
	}
	const always = 1 << 30
	for name, call := range calls {
		for what, c := range map[string]struct {
			owner   forgetful
			timeout time.Duration
			want    agent.Code
			handled int // 0 means more than once
		}{
			"once":                      {forgetful{lost: 1}, time.Minute, "", 2},
			"until the caller gives up": {forgetful{lost: always}, 3 * time.Second, agent.CodeUnknown, 0},
			"until the router gives up": {forgetful{lost: always}, time.Minute, agent.CodeUnknown, 0},
			"and then it is refused":    {forgetful{lost: 1, then: agent.Errorf(agent.CodeOverloaded, "full")}, time.Minute, agent.CodeUnknown, 2},
			"and then unavailable":      {forgetful{lost: 1, then: agent.Errorf(agent.CodeUnavailable, "down")}, time.Minute, agent.CodeUnknown, 0},
		} {
			t.Run(name+" "+what, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					r := router.NewInstances("c", nil, newTable("a"), hosts{"a:1": &c.owner, "through b:1": &c.owner})
					ctx, cancel := context.WithTimeout(t.Context(), c.timeout)
					defer cancel()
					err := call(ctx, r)
					if agent.CodeOf(err) != c.want || c.handled != 0 && c.owner.handled != c.handled || c.handled == 0 && c.owner.handled < 2 {
						t.Errorf("%v after %d attempts; want %q", err, c.owner.handled, c.want)
					}
				})
			})
		}
	}
}

// A call that must not be repeated is unknown at once.
func TestCL8_ALostAnswerIsNotRepeatedUnlessThatIsSafe(t *testing.T) {
	owner := &forgetful{lost: 1}
	r := router.NewInstances("c", nil, newTable("a"), hosts{"a:1": owner, "through b:1": owner})
	_, err := r.Signal(t.Context(), ref, agent.Signal{Type: "x"})
	if agent.CodeOf(err) != agent.CodeUnknown || owner.handled != 1 {
		t.Errorf("a signal: %v after %d attempts", err, owner.handled)
	}
	owner.handled = 0
	if err := r.Stop(t.Context(), ref); agent.CodeOf(err) != agent.CodeUnknown || owner.handled != 1 {
		t.Errorf("a stop: %v after %d attempts", err, owner.handled)
	}
}
