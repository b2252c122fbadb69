package importer

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
)

// answering answers each commit with the next of its errors, and then with the last one.
type answering struct {
	agent.Service
	errs  []error
	asked int
}

func (s *answering) Commit(context.Context, agent.Commit) (agent.Result, error) {
	err := s.errs[min(s.asked, len(s.errs)-1)]
	s.asked++
	if err != nil {
		return agent.Result{}, err
	}
	return agent.Result{Results: []agent.OpResult{&agent.DeleteResult{}}}, nil
}

// A refusal says what came of a commit only if it is final, or if no attempt before it may have been applied.
func TestARefusalSaysNothingOfEarlierAttempts(t *testing.T) {
	unknown := agent.Errorf(agent.CodeUnknown, "no answer")
	unavailable := agent.Errorf(agent.CodeUnavailable, "no leader")
	forbidden := agent.Errorf(agent.CodeForbidden, "the token was revoked")
	final := agent.Errorf(agent.CodeConflict, "another revision")
	final.Final = true
	for name, c := range map[string]struct {
		errs    []error
		want    agent.Code
		learned int64
	}{
		"refused until it gives up":          {[]error{unavailable}, agent.CodeUnavailable, 0},
		"unknown, then refused until then":   {[]error{unknown, unavailable}, agent.CodeUnknown, 0},
		"unknown, then refused for good":     {[]error{unavailable, unknown, forbidden}, agent.CodeUnknown, 0},
		"unknown, then refused by the log":   {[]error{unknown, final}, agent.CodeConflict, 1},
		"unknown, then done":                 {[]error{unknown, unknown, nil}, "", 1},
		"refused for good at the first time": {[]error{forbidden}, agent.CodeForbidden, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			var counted counters
			client := newRetryClient(&answering{errs: c.errs}, "s", time.Minute, &counted)
			err := client.commit(t.Context(), &agent.DeleteValue{Key: "k"})
			if got := agent.CodeOf(err); got != c.want || counted.unknown.Load() != c.learned {
				t.Errorf("%s: %v, %d outcomes were learned; want code %q and %d", name, err, counted.unknown.Load(), c.want, c.learned)
			}
		})
	}
}
