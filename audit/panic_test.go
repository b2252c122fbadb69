package audit_test

import (
	"context"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/audit"
)

// panicking is a service and an operator whose calls panic.
type panicking struct {
	agent.Submitter
	layout.Operator
}

func (panicking) Commit(context.Context, agent.Commit) (agent.Result, error) { panic("a bug") }

func (panicking) Submit(context.Context, agent.Commit, func(agent.Result, error)) { panic("a bug") }

func (panicking) Change(context.Context, layout.Change, string) (string, error) { panic("a bug") }

// A call that panics has a record of its end, which gives its places in the queue back.
func TestACallThatPanicsHasAnEnd(t *testing.T) {
	administrative := commitOf(&agent.PutToken{Hash: agent.HashToken("SECRET"), Principal: "bob"})
	for name, each := range map[string]struct {
		lines int
		call  func(ctx context.Context, r *audit.Recorder)
	}{
		"a commit": {2, func(ctx context.Context, r *audit.Recorder) {
			_, _ = r.Service(panicking{}).Commit(ctx, administrative)
		}},
		"a submitted commit": {2, func(ctx context.Context, r *audit.Recorder) {
			_, _ = agent.Await(ctx, r.Service(panicking{}), administrative)
		}},
		"a submitted delete": {1, func(ctx context.Context, r *audit.Recorder) {
			_, _ = agent.Await(ctx, r.Service(panicking{}), commitOf(&agent.DeleteValue{Key: "k"}))
		}},
		"a change of members": {2, func(ctx context.Context, r *audit.Recorder) {
			_, _ = r.Operator(panicking{}).Change(ctx, layout.ChangeDemote, "n1")
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, false)
			func() {
				defer func() { _ = recover() }()
				each.call(as(t, agent.VerbTokensChange), s.recorder)
			}()
			late := time.Now().Add(10 * time.Second)
			for !s.Reserve(audit.QueueMax) { // until its last record is written
				if time.Now().After(late) {
					t.Fatal("its places are lost")
				}
				time.Sleep(time.Millisecond)
			}
			s.Release(audit.QueueMax)
			recs := s.recs()
			if len(recs) != each.lines || recs[len(recs)-1].Outcome != string(agent.CodeInternal) {
				t.Errorf("%+v", recs)
			}
		})
	}
}
