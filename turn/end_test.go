package turn_test

import (
	"errors"
	"testing"

	"dormouse/agent"
	"dormouse/turn"
)

// A refusal of one of the turn's own ops fails the turn, whatever its code: that something is missing
// or deleted says nothing of the lease.
func TestATurnWhoseOpNamesWhatIsMissingFails(t *testing.T) {
	ops := map[agent.Code]agent.Op{
		agent.CodeNotFound: &agent.DecideReview{Review: "missing", Decision: agent.DecideApprove, By: "me"},
		agent.CodeDeleted:  &agent.AppendThread{Thread: "gone", IfIncarnation: 1, Entries: []agent.Draft{note()}},
	}
	for code, op := range ops {
		sim(t, func(k *kit) {
			k.commit(&agent.AppendThread{Thread: "gone", Entries: []agent.Draft{note()}})
			k.commit(&agent.DeleteThread{Thread: "gone"})
			row, err := k.runner.Turn(k.Context(), "s", request("r1"), func(t *turn.Turn) error {
				t.Commit(op)
				return nil
			})
			if errors.Is(err, turn.ErrLost) || agent.CodeOf(err) != code || row.Status != agent.SessionFailed {
				k.Errorf("%s: the session is %q, and the error %v", code, row.Status, err)
			}
			k.expectStatus(agent.SessionFailed)
		})
	}
}
