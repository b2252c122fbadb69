package importer

import (
	"context"
	"testing"

	"dormouse/agent"
)

// found answers each read in the same way. It takes no commits.
type found struct {
	agent.Service
	answers []agent.Answer
}

func (s found) Read(context.Context, agent.Reads) (agent.Answers, error) {
	return agent.Answers{Answers: s.answers}, nil
}

// An import is complete if the timer of an earlier one has fired before this one looks for it.
func TestAFollowUpThatHasFiredIsNoError(t *testing.T) {
	s := found{answers: []agent.Answer{{Err: &agent.Error{Code: agent.CodeNotFound, Op: -1}}, {Found: &agent.Thread{Rev: 3}}}}
	var counted counters
	u := &user{client: newRetryClient(s, agent.DefaultScope, 0, &counted)}
	if err := u.followUp(t.Context(), job{name: "a"}, 3); err != nil {
		t.Error(err)
	}
}
