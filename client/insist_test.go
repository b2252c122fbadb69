package client_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/client"
	grpcfront "dormouse/server/grpc"
)

// CL-8: a refusal after an unknown attempt does not mean that the call was not
// handled.
func TestCL8_ARefusalDoesNotSettleAnEarlierAttempt(t *testing.T) {
	for _, code := range []agent.Code{
		agent.CodeThawFailed, agent.CodeNotFound, agent.CodeUnauthenticated, agent.CodeForbidden, agent.CodeHandlerFailed, agent.CodeInvalid,
	} {
		synctest.Test(t, func(t *testing.T) {
			host := &signalled{handle: func(_ context.Context, attempt int) error {
				if attempt == 1 {
					return agent.Errorf(agent.CodeUnknown, "it hangs")
				}
				return agent.Errorf(code, "so it is")
			}}
			w, f := newWires(t), &fake{}
			w.serveWith("a", f, f, grpcfront.Options{Instances: host})
			c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
			ref := agent.InstanceRef{Manager: "m", Key: "k"}
			_, err := c.Instances().Signal(t.Context(), ref, agent.Signal{Type: "x"})
			if agent.CodeOf(err) != agent.CodeUnknown || !strings.Contains(err.Error(), "so it is") {
				t.Errorf("unknown, then %s: %v", code, err)
			}
			if n := len(host.signals); n != 2 {
				t.Errorf("unknown, then %s: %d attempts", code, n)
			}
			if _, err := c.Instances().Signal(t.Context(), ref, agent.Signal{Type: "x"}); agent.CodeOf(err) != code {
				t.Errorf("%s alone: %v", code, err)
			}
		})
	}
}

// A refusal that arrives shortly before the caller's time is over is the outcome: no attempt follows
// that could only be unknown.
func TestALateRefusalIsTheOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &signalled{handle: func(ctx context.Context, attempt int) error {
			end, _ := ctx.Deadline()
			if attempt == 1 {
				time.Sleep(time.Until(end) - 45*time.Millisecond)
				return agent.Errorf(agent.CodeUnavailable, "no process has the handler")
			}
			time.Sleep(time.Until(end))
			return agent.Errorf(agent.CodeUnavailable, "too late")
		}}
		w, f := newWires(t), &fake{}
		w.serveWith("a", f, f, grpcfront.Options{Instances: host})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := c.Instances().Signal(ctx, agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"})
		if agent.CodeOf(err) != agent.CodeUnavailable || !strings.Contains(err.Error(), "no process has the handler") || len(host.signals) != 1 {
			t.Errorf("after %d attempts: %v", len(host.signals), err)
		}
	})
}

// An answer settles the call: the turn is made once, whichever attempt made it.
func TestAnAnswerSettlesAnEarlierAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := &signalled{handle: func(_ context.Context, attempt int) error {
			switch attempt {
			case 1:
				return agent.Errorf(agent.CodeUnknown, "it hangs")
			case 2:
				return agent.Errorf(agent.CodeUnavailable, "on its way")
			default:
				return nil
			}
		}}
		w, f := newWires(t), &fake{}
		w.serveWith("a", f, f, grpcfront.Options{Instances: host})
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		reply, err := c.Instances().Signal(t.Context(), agent.InstanceRef{Manager: "m", Key: "k"}, agent.Signal{Type: "x"})
		if err != nil || reply.Rev != 3 {
			t.Errorf("at the third attempt: %+v, %v", reply, err)
		}
		for _, s := range host.signals {
			if s.Request.Client != host.signals[0].Request.Client || s.Request.Seq != host.signals[0].Request.Seq {
				t.Errorf("one signal under two ids: %+v", host.signals)
			}
		}
	})
}
