package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/command"
)

// genPlan draws the fields of a timer that a caller sets.
var genPlan = rapid.Custom(func(t *rapid.T) agent.Timer {
	return agent.Timer{
		Manager: genText.Draw(t, "manager"), Key: genText.Draw(t, "key"), ID: genText.Draw(t, "id"),
		Cron: genText.Draw(t, "cron"), TimeZone: genText.Draw(t, "zone"), Missed: agent.Missed(genText.Draw(t, "missed")),
		CatchUp: genNumber.Draw(t, "catch up"), Type: genText.Draw(t, "type"), Data: genJSON.Draw(t, "data"), Next: genTime.Draw(t, "next"),
	}
})

var genTimerOps = []*rapid.Generator[agent.Op]{
	rapid.Custom(func(t *rapid.T) agent.Op { return &agent.PutTimer{Timer: genPlan.Draw(t, "plan")} }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.DeleteTimer](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.AckTimer](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.FailTimer](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PatchCron{
			Key: genID.Draw(t, "key"), Specs: genJSON.Draw(t, "specs"), IfRevision: optional(t, genNumber, "if_revision"), IfIncarnation: genNumber.Draw(t, "inc"),
		}
	}),
}

func init() { genOps = append(genOps, genTimerOps...) }

func TestATimersResultComesBackAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := &agent.TimerResult{Timer: genPlan.Draw(t, "plan")}
		timer := &want.Timer
		timer.Generation, timer.NotBefore, timer.Attempts = genNumber.Draw(t, "generation"), genTime.Draw(t, "not before"), genNumber.Draw(t, "attempts")
		timer.Parked, timer.LastError = rapid.Bool().Draw(t, "parked"), genText.Draw(t, "error")
		timer.CreatedAt, timer.UpdatedAt = genTime.Draw(t, "created"), genTime.Draw(t, "updated")
		raw := command.EncodeOutcome(agent.Decided{Result: agent.Result{Results: []agent.OpResult{want}}})
		got, err := command.DecodeOutcome(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]agent.OpResult{want}, got.Result.Results, equal); diff != "" {
			t.Fatalf("(-want +got):\n%s", diff)
		}
	})
}
