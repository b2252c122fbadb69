package podtest

import (
	"fmt"
	"strings"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// wholes are claims about a pod with all its nodes.
var wholes = []claim{
	{"a pod within a pod has nodes of its own, and is torn down whole", nested},

	{"a nested pod that was never opened is stopped with its pod", func(k *kit) {
		const outer = `{"name":"outer","nodes":{"in":{"kind":"pod","manager":"lazy-teams","activation":"eager"}}}` // which has no topology
		_, err := k.pods.Get(k.Context(), team("a"), pod.Open{Topology: []byte(outer)})
		k.refused(err, agent.CodeReconcileFailed, "topology")
		if _, err := k.pods.Hibernate(k.Context(), team("a")); err != nil {
			k.Error(err)
		}
		if view := k.look(team("a")); view.Status != agent.InstanceDormant {
			k.Errorf("the pod is %s", view.Status)
		}
	}},

	{"a mutation of a nested pod that its pod's hibernation ends has failed at the nodes that it did not start", func(k *kit) {
		k.get(team("a"), `{"name":"t","nodes":{"squad":{"kind":"pod","manager":"squads","activation":"eager"}}}`)
		squad := k.node(team("a"), "squad")
		k.begin(squad, `[{"remove_node":{"name":"scout"}},{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}}]`)
		if _, err := k.pods.Hibernate(k.Context(), team("a")); err != nil {
			k.Fatal(err)
		}
		m := k.look(squad).Slot.Mutation
		k.equal("status, stopped, started", []any{m.Status, m.Report.Stopped, m.Report.Started}, "[failed [scout] []]")
		k.equal("failures", len(m.Report.Failures), 1)
		k.equal("stage and code of kim", []any{m.Report.Failures["kim"].Stage, m.Report.Failures["kim"].Code}, []any{pod.StageStart, agent.CodeConflict})
		k.idle(squad)

		k.get(team("a"), "")
		k.begin(squad, `[{"remove_node":{"name":"cook"}}]`)
		if _, err := k.pods.Hibernate(k.Context(), team("a")); err != nil {
			k.Fatal(err)
		}
		m = k.look(squad).Slot.Mutation
		k.equal("status and stopped, with nothing left to start", []any{m.Status, m.Report.Stopped}, "[completed [cook]]")
	}},

	{"nodes with affinity are in their pod's partition, nested ones too", func(k *kit) {
		k.commitIn(agent.DefaultScope, &agent.PutManager{Manager: agent.Manager{
			Name: "near", Handler: agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName},
			Metadata: agent.JSON(`{"topology":{"name":"near","affinity":true,"nodes":{"deep":{"manager":"agents","activation":"eager"}}}}`),
		}})
		k.get(team("a/b"), `{"name":"t","affinity":true,"nodes":{"x":{"manager":"agents","activation":"eager"},
			"y":{"manager":"agents","activation":"eager"},"in":{"kind":"pod","manager":"near","activation":"eager"}}}`)
		at := func(ref agent.InstanceRef) int {
			i, err := k.pods.Instances.Lookup(k.Context(), ref)
			if err != nil {
				k.Fatal(err)
			}
			return i.Partition
		}
		want := at(team("a/b"))
		for _, node := range []string{"x", "y", "in"} {
			k.equal("the partition of "+node, at(k.node(team("a/b"), node)), want)
		}
		k.equal("the partition of deep", at(k.node(k.node(team("a/b"), "in"), "deep")), want)
	}},

	{"a pod hibernates whole and tells what is stored at one index", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		eve := k.node(team("a"), "eve")
		k.append(eve, 3)
		rested, err := k.pods.Hibernate(k.Context(), team("a"))
		if err != nil {
			k.Fatal(err)
		}
		k.equal("stopped", rested.Stopped, "[eve ann bob boss store]")
		k.equal("nodes that have something stored", len(rested.Nodes), 4)
		k.equal("eve", rested.Nodes[eve.Key].Rev, 3)
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=stopped eve=stopped store=stopped")
		k.equal("the pod", k.look(team("a")).Status, agent.InstanceDormant)
		k.get(team("a"), "")
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped store=adopted")
	}},

	{"a pod hibernates whose nodes have more state than one answer holds", func(k *kit) {
		names := numbered(10)
		k.get(team("a"), lazy(names))
		for _, name := range names {
			state := agent.JSON(`{"x":"` + strings.Repeat("x", agent.CheckpointBytesMax-len(`{"x":""}{}`)) + `"}`)
			k.commitIn(agent.DefaultScope, &agent.PutCheckpoint{Key: k.node(team("a"), name).Checkpoint(), State: state})
		}
		rested, err := k.pods.Hibernate(k.Context(), team("a"))
		if err != nil {
			k.Fatal(err)
		}
		k.equal("nodes that have something stored", len(rested.Nodes), len(names))
		for _, name := range names {
			if key := k.node(team("a"), name).Key; rested.Nodes[key].Revision != 1 {
				k.Errorf("%s: %+v, want revision 1", key, rested.Nodes[key])
			}
		}
	}},

	{"a pod with more nodes than one request reads stops none of them", func(k *kit) {
		squad := `,"squad":{"kind":"pod","manager":"squads","activation":"eager"}}}` // which has two nodes
		k.get(team("a"), strings.TrimSuffix(lazy(numbered(pod.NodesMax-1)), "}}")+squad)
		_, err := k.pods.Hibernate(k.Context(), team("a"))
		k.refused(err, agent.CodeTooLarge, "nodes")
		k.expectStatuses(k.node(team("a"), "squad"), "cook=stopped scout=adopted")
	}},

	{"a fork of a pod is the whole of it and goes its own way", forked},
}

// numbered returns the names n0, n1 and so on.
func numbered(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprint("n", i)
	}
	return names
}

// lazy returns a topology of lazy agents.
func lazy(names []string) string {
	nodes := make([]string, len(names))
	for n, name := range names {
		nodes[n] = fmt.Sprintf(`%q:{"manager":"agents"}`, name)
	}
	return `{"name":"t","nodes":{` + strings.Join(nodes, ",") + `}}`
}

// nested tests a squad within a team.
func nested(k *kit) {
	k.get(team("a"), `{"name":"t","nodes":{"squad":{"kind":"pod","manager":"squads","activation":"eager"},
		"odd":{"kind":"pod","manager":"agents"}}}`)
	squad := k.node(team("a"), "squad")
	k.expectStatuses(team("a"), "odd=stopped squad=adopted")
	k.expectStatuses(squad, "cook=stopped scout=adopted")
	scout := k.node(squad, "scout")
	_, _, err := k.pods.Ensure(k.Context(), team("a"), "odd", nil)
	k.refused(err, agent.CodeReconcileFailed, "is not a manager of pods")

	report := k.mutate(team("a"), `[{"remove_node":{"name":"squad"}}]`)
	k.equal("stopped", report.Stopped, "[squad]")
	for _, ref := range []agent.InstanceRef{squad, scout} {
		i, err := k.pods.Instances.Lookup(k.Context(), ref)
		if err != nil || i.Status != agent.InstanceDormant {
			k.Errorf("%s is %s, %v", ref.Key, i.Status, err)
		}
	}
}

// forked tests the fork of a team with a squad.
func forked(k *kit) {
	k.get(team("a"), `{"name":"t","nodes":{"squad":{"kind":"pod","manager":"squads","activation":"eager"},
		"boss":{"manager":"agents","activation":"eager","initial_state":{"rank":1}},"idler":{"manager":"agents"}}}`)
	scout := k.node(k.node(team("a"), "squad"), "scout")
	k.append(scout, 3)
	job := agent.Signal{Type: agent.SignalCron, Data: agent.JSON(`{"nightly":{"cron_expression":"@daily","message":{"type":"pod.reconcile"},"timezone":"Etc/UTC"}}`)}
	if _, err := k.pods.Instances.Signal(k.Context(), team("a"), job); err != nil {
		k.Fatal(err)
	}
	made, err := k.pods.Fork(k.Context(), team("a"), "b", agent.Request{})
	if err != nil {
		k.Fatal(err)
	}
	k.equal("nodes that had anything stored", made.Nodes, 3) // squad, scout, boss
	if got := k.state(team("b")); !strings.Contains(got, `"nightly"`) {
		k.Errorf("the fork has no job: %s", got)
	}
	k.append(scout, 2)
	k.expectStatuses(team("b"), "boss=stopped idler=stopped squad=stopped")
	k.get(team("b"), "")
	k.expectStatuses(team("b"), "boss=adopted idler=stopped squad=adopted")
	copied := k.node(k.node(team("b"), "squad"), "scout")
	i, err := k.pods.Instances.Lookup(k.Context(), copied)
	if err != nil || i.Rev != 3 || i.Status != agent.InstanceAwake {
		k.Errorf("the fork's scout: %+v, %v", i, err)
	}
	k.equal("the fork's boss", k.state(k.node(team("b"), "boss")), `{"rank":1}`)
	k.mutate(team("b"), `[{"remove_node":{"name":"boss"}}]`)
	k.expectStatuses(team("a"), "boss=adopted idler=stopped squad=adopted")
	_, err = k.pods.Fork(k.Context(), team("a"), "b", agent.Request{})
	k.refused(err, agent.CodeAlreadyExists, "")
	_, err = k.pods.Fork(k.Context(), team("a"), "a", agent.Request{})
	k.refused(err, agent.CodeInvalid, "its own key")
}

// append appends entries to a document's thread.
func (k *kit) append(ref agent.InstanceRef, entries int) {
	k.Helper()
	for range entries {
		if _, err := k.pods.Instances.Signal(k.Context(), ref, agent.Signal{Type: "append", Data: agent.JSON(`{"entries":[{"kind":"note"}]}`)}); err != nil {
			k.Fatal(err)
		}
	}
}
