package pod

import (
	"context"
	"testing"

	"dormouse/agent"
)

// refusing refuses each signal.
type refusing struct {
	agent.Instances
	code agent.Code
}

func (r refusing) Signal(context.Context, agent.InstanceRef, agent.Signal) (agent.Reply, error) {
	return agent.Reply{}, agent.Errorf(r.code, "the node did not stop in time")
}

// A mutation is stored before its steps: their refusal says nothing of it.
func TestARefusedStepLeavesTheMutationUnknown(t *testing.T) {
	for _, code := range []agent.Code{agent.CodeHandlerFailed, agent.CodeForbidden, agent.CodeNotFound, agent.CodeConflict} {
		report, err := Pods{Instances: refusing{code: code}}.runSteps(t.Context(), agent.InstanceRef{}, Progress{Step: Step{MutationID: "m1"}})
		if agent.OutcomeOf(err) != agent.Undecided || report.MutationID != "m1" {
			t.Errorf("%s: %v, %+v", code, err, report)
		}
	}
}
