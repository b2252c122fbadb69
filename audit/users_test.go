package audit_test

import (
	"context"
	"testing"

	"dormouse/agent"
	"dormouse/audit"
)

// holding is a service that holds commits of several ops.
type holding struct {
	agent.Submitter
	held, release chan struct{}
}

func (h holding) Commit(_ context.Context, c agent.Commit) (agent.Result, error) {
	if len(c.Ops) > 1 {
		h.held <- struct{}{}
		<-h.release
	}
	return agent.Result{}, nil
}

// Large commits of a scope's users that are under way leave places for the records of administrative calls.
func TestUsersLeaveRoomForAdministrativeCalls(t *testing.T) {
	for name, op := range map[string]agent.Op{
		"write":         &agent.DeleteValue{Key: "k"},
		"run":           &agent.DeleteSession{Session: "s"},
		"decide":        &agent.DecideReview{Review: "r"},
		"begin and end": &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "p"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScene(t, false)
			inner := holding{held: make(chan struct{}), release: make(chan struct{})}
			service := s.recorder.Service(inner)
			ops := make([]agent.Op, agent.CommitOpsMax)
			for i := range ops {
				ops[i] = op
			}
			const commits = 8
			held, results := 0, make(chan error, commits)
			for range commits {
				go func() {
					_, err := service.Commit(t.Context(), commitOf(ops...))
					results <- err
				}()
				select {
				case <-inner.held:
					held++
				case err := <-results:
					if agent.CodeOf(err) != agent.CodeOverloaded {
						t.Errorf("a commit without room: %v", err)
					}
				}
			}
			if held == 0 || held == commits {
				t.Errorf("%d commits are under way", held)
			}
			if _, err := service.Commit(t.Context(), commitOf(&agent.PutScope{})); err != nil {
				t.Errorf("an administrative call: %v", err)
			}
			close(inner.release)
			for range held {
				if err := <-results; err != nil {
					t.Error(err)
				}
			}
			s.end()
			if !s.Reserve(audit.QueueMax) {
				t.Error("the commits have kept places")
			}
		})
	}
}
