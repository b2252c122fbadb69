package node_test

import (
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/agent/layout"
)

func TestAChangeOfANodeThatIsNoMemberIsNotFoundSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 3)
		for _, through := range w.awake { // the leader or not
			for _, change := range []layout.Change{layout.ChangeLeave, layout.ChangePromote, layout.ChangeDemote, layout.ChangeTransfer} {
				if _, err := through.Operator().Change(t.Context(), change, "n9"); agent.CodeOf(err) != agent.CodeNotFound {
					t.Errorf("%s through %s: %v", change, through.name, err)
				}
			}
		}
	})
}

func TestTheLastVoterStaysSim(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := newPlacedCluster(t, 1)
		for _, change := range []layout.Change{layout.ChangeLeave, layout.ChangeDemote} {
			if _, err := w.leader().Operator().Change(t.Context(), change, w.leader().name); agent.CodeOf(err) != agent.CodeConflict {
				t.Errorf("%s: %v", change, err)
			}
		}
	})
}
