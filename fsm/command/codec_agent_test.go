package command_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/command"
)

// genAgentOps has a generator for each kind of op on whole agents, for set_ttl and for delete_prefix.
var genAgentOps = []*rapid.Generator[agent.Op]{
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.ForkAgent](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.DeletePrefix](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.EraseAgent](t)
		spans(t, nil, &o.Seal)
		return o
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		o := any1[agent.SetTTL](t)
		spans(t, nil, &o.TTL)
		return o
	}),
}

func init() { genOps = append(genOps, genAgentOps...) }

func TestOutcomesOfForksAndErasuresDecodeToWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forked := &agent.ForkedAgent{
			Checkpoint: agent.CheckpointResult{Key: genID.Draw(t, "key"), Revision: 1, Thread: optional(t, genPointer, "pointer")},
			Thread:     optional(t, genThread, "thread"),
			Memories:   genNumber.Draw(t, "memories"),
		}
		if rapid.Bool().Draw(t, "session") {
			forked.Session = any1[agent.SessionRow](t)
		}
		d := agent.Decided{Result: agent.Result{Index: 7, Time: 8, Results: []agent.OpResult{forked, any1[agent.Erasure](t), any1[agent.PrefixDeletion](t)}}}
		raw := command.EncodeOutcome(d)
		got, err := command.DecodeOutcome(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got, equal...); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}
