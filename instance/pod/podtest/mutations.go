package podtest

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// mutations are claims about changes of a topology.
var mutations = []claim{
	{"PD-7 the version moves with the structure alone", func(k *kit) {
		k.equal("of a new pod", k.get(team("a"), crew).TopologyVersion, 1)
		k.equal("after nothing", k.mutate(team("a"), `[]`).TopologyVersion, 1)
		k.equal("after three ops at once", k.mutate(team("a"), `[{"add_node":{"name":"kim","node":{"manager":"agents"}}},
			{"add_node":{"name":"lee","node":{"manager":"agents"},"owner":"kim"}},{"remove_node":{"name":"store"}}]`).TopologyVersion, 2)
		k.get(team("a"), "")
		k.equal("stored", k.look(team("a")).Slot.TopologyVersion, 2)
	}},

	{"PD-8 a mutation touches no node twice, adds none that is there and removes none that is not", func(k *kit) {
		k.get(team("a"), crew)
		for ops, says := range map[string]string{
			`[{"remove_node":{"name":"ann"}},{"remove_node":{"name":"eve"}}]`:                          "twice",
			`[{"add_node":{"name":"kim","node":{"manager":"agents"}}},{"remove_node":{"name":"kim"}}]`: "twice",
			`[{"add_node":{"name":"ann","node":{"manager":"agents"}}}]`:                                "already exists",
			`[{"add_node":{"name":"kim","node":{"manager":"agents"},"owner":"zoe"}}]`:                  `"zoe"`,
			`[{"add_node":{"name":"kim","node":{"manager":"agents"},"depends_on":["kim"]}}]`:           "itself",
			`[{}]`: "exactly one",
		} {
			_, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(ops), agent.Request{})
			k.refused(err, agent.CodeInvalid, says)
		}
		_, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(`[{"remove_node":{"name":"zoe"}}]`), agent.Request{})
		k.refused(err, agent.CodeNotFound, `"zoe"`)
		k.equal("the version", k.look(team("a")).Slot.TopologyVersion, 1)
	}},

	{"PD-9 a node goes with all that it owns, in the reverse of their order", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		eve := k.node(team("a"), "eve")
		report := k.mutate(team("a"), `[{"remove_node":{"name":"boss"}},{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}},
			{"add_node":{"name":"lee","node":{"manager":"agents"}}}]`)
		k.equal("removed", report.Removed, "[ann bob boss eve]")
		k.equal("stopped", report.Stopped, "[ann bob boss eve]")
		k.equal("added, and of these started", []any{report.Added, report.Started}, "[[kim lee] [kim]]")
		i, err := k.pods.Instances.Lookup(k.Context(), eve)
		if err != nil || i.Status != agent.InstanceDormant {
			k.Errorf("eve is %s, %v: its checkpoint stays, and it sleeps", i.Status, err)
		}
		k.expectStatuses(team("a"), "kim=adopted lee=stopped store=adopted")
	}},

	{"PD-10 a mutation is stored before anything is done for it, and stays where that fails", func(k *kit) {
		k.get(team("a"), crew)
		k.begin(team("a"), `[{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}}]`)
		view := k.look(team("a"))
		k.equal("version and status", []any{view.Slot.TopologyVersion, view.Slot.Mutation.Status}, "[2 running]")
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped kim=stopped store=adopted")
		k.get(team("a"), "") // continues it

		report, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(`[{"remove_node":{"name":"store"}},
			{"add_node":{"name":"bad","node":{"manager":"picky","activation":"eager","initial_state":{"broken":true}}}},
			{"add_node":{"name":"late","node":{"manager":"agents","activation":"eager"},"depends_on":["bad"]}}]`), agent.Request{})
		k.refused(err, agent.CodeMutationFailed, `node "bad" at start`)
		k.equal("status, stopped, started", []any{report.Status, report.Stopped, report.Started}, "[failed [store] []]")
		k.equal("version", k.look(team("a")).Slot.TopologyVersion, 3)
		k.equal("the next one", k.mutate(team("a"), `[{"remove_node":{"name":"late"}},{"remove_node":{"name":"bad"}}]`).TopologyVersion, 4)
	}},

	{"PD-11 one mutation at a time", func(k *kit) {
		k.get(team("a"), crew)
		k.begin(team("a"), `[{"remove_node":{"name":"store"}}]`)
		running := k.look(team("a")).Slot.Mutation.ID
		_, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(`[{"remove_node":{"name":"ann"}}]`), agent.Request{})
		k.equal("reason", k.refusal(err, agent.CodeMutationInProgress, running).Reason, running)
		_, err = k.pods.Hibernate(k.Context(), team("a"))
		k.refused(err, agent.CodeMutationInProgress, "")
		_, err = k.pods.Fork(k.Context(), team("a"), "b", agent.Request{})
		k.refused(err, agent.CodeMutationInProgress, "")
	}},

	{"PD-15 a mutation whose runner died goes on by itself", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		k.begin(team("a"), `[{"remove_node":{"name":"ann"}},{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}},
			{"add_node":{"name":"lee","node":{"manager":"agents","activation":"eager"},"owner":"kim"}}]`)
		time.Sleep(time.Minute)
		m := k.look(team("a")).Slot.Mutation
		k.equal("status", m.Status, pod.MutationCompleted)
		k.equal("stopped and started", []any{m.Report.Stopped, m.Report.Started}, "[[ann eve] [kim lee]]")
		k.expectStatuses(team("a"), "bob=stopped boss=adopted kim=adopted lee=adopted store=adopted")
		k.idle(team("a"))
	}},

	{"PD-15 get goes on with a mutation whose runner died", func(k *kit) {
		k.get(team("a"), crew)
		k.begin(team("a"), `[{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}}]`)
		k.get(team("a"), "")
		k.equal("status", k.look(team("a")).Slot.Mutation.Status, pod.MutationCompleted)
		k.idle(team("a"))
	}},

	{"a mutation that is sent again is the same one", func(k *kit) {
		k.get(team("a"), crew)
		ops, request := agent.JSON(`[{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}}]`), agent.Request{Client: "c", Seq: 1}
		first, err := k.pods.Mutate(k.Context(), team("a"), ops, request)
		if err != nil {
			k.Fatal(err)
		}
		k.mutate(team("a"), `[{"remove_node":{"name":"store"}}]`)
		again, err := k.pods.Mutate(k.Context(), team("a"), ops, request)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("the second report", []any{again.MutationID, again.TopologyVersion, again.Started}, []any{first.MutationID, first.TopologyVersion, first.Started})
		k.equal("the version", k.look(team("a")).Slot.TopologyVersion, 3)
	}},

	{"a mutation ends wherever the failures of its nodes are cut", func(k *kit) {
		k.get(team("a"), crew)
		long := strings.Repeat("é", 300) // of two bytes each, so a cut at a fixed length is within one of them
		report, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(`[
			{"add_node":{"name":"even","node":{"manager":"picky","activation":"eager","initial_state":{"broken":true,"why":"`+long+`"}}}},
			{"add_node":{"name":"odds","node":{"manager":"picky","activation":"eager","initial_state":{"broken":true,"why":"-`+long+`"}}}}]`), agent.Request{})
		k.refused(err, agent.CodeMutationFailed, "2 nodes failed")
		for _, node := range []string{"even", "odds"} {
			if said := report.Failures[node].Detail; !utf8.ValidString(said) || !strings.HasSuffix(said, "éé…") {
				k.Errorf("%s: %q", node, said)
			}
		}
	}},
}

// idle fails the claim if a pod has timers left.
func (k *kit) idle(ref agent.InstanceRef) {
	k.Helper()
	answers, err := k.pods.Service.Read(context.WithoutCancel(k.Context()), agent.Reads{Scope: ref.Scope, Reads: []agent.Read{
		&agent.ListTimers{Manager: ref.Manager, Key: ref.Key},
	}})
	if err != nil {
		k.Fatal(err)
	}
	if left := answers.Answers[0].Found.(*agent.TimerList).Items; len(left) > 0 {
		k.Errorf("timers are left: %+v", left)
	}
}
