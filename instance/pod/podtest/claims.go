package podtest

import (
	"context"
	"strings"
	"time"
	"unicode/utf8"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// claims are the list of SEMANTICS §4, in its order, and ours.
var claims = []claim{
	{"PD-1 get starts the eager nodes and no lazy one", func(k *kit) {
		got := k.get(team("a"), crew)
		k.equal("created", got.Created, true)
		k.equal("requested", got.Report.Requested, "[boss store]")
		k.equal("boss came", got.Report.Nodes["boss"].Source, pod.SourceStarted)
		k.stands(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped store=adopted")
		k.equal("boss begins with", k.state(k.node(team("a"), "boss")), `{"rank":1}`)
		again := k.get(team("a"), crew)
		k.equal("created again", again.Created, false)
		k.equal("boss is there", again.Report.Nodes["boss"].Source, pod.SourceRunning)
	}},

	{"PD-2 ensure starts what a node needs first", func(k *kit) {
		k.get(team("a"), crew)
		shot, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("waves", report.Waves, "[[boss] [ann] [eve]]")
		k.equal("sources", report.Nodes["boss"].Source+" "+report.Nodes["ann"].Source+" "+report.Nodes["eve"].Source, "running started started")
		k.equal("eve hangs under", shot.Actual.Node, "ann") // not the pod
		k.equal("eve's owner", report.Nodes["eve"].Owner, "ann")
		_, report, err = k.pods.Ensure(k.Context(), team("a"), "bob", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("waves", report.Waves, "[[boss store] [bob]]")
		k.stands(team("a"), "ann=adopted bob=adopted boss=adopted eve=adopted store=adopted")
	}},

	{"PD-3 a state given to ensure is for the node that is named", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", agent.JSON(`{"rank":9}`)); err != nil {
			k.Fatal(err)
		}
		k.equal("eve begins with", k.state(k.node(team("a"), "eve")), `{"rank":9}`)
		k.equal("ann begins with", k.state(k.node(team("a"), "ann")), `{"rank":2}`)
	}},

	{"PD-4 a node is adopted, running, misplaced or stopped", fourStatuses},

	{"PD-5 a pod that comes back adopts its roots, and stopping it stops no node", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		if err := k.pods.Instances.Stop(k.Context(), team("a")); err != nil {
			k.Fatal(err)
		}
		// Ann and eve have kept their owners.
		k.stands(team("a"), "ann=adopted bob=stopped boss=running eve=adopted store=running")
		got := k.get(team("a"), "")
		k.equal("created", got.Created, false)
		k.equal("sources", got.Report.Nodes["boss"].Source+" "+got.Report.Nodes["store"].Source, "adopted adopted")
		_, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("eve", report.Nodes["eve"].Source, pod.SourceRunning)
		k.stands(team("a"), "ann=adopted bob=stopped boss=adopted eve=adopted store=adopted")
	}},

	{"PD-5 an owner that comes back has lost what it owned until it is adopted", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		if err := k.pods.Instances.Stop(k.Context(), k.node(team("a"), "ann")); err != nil {
			k.Fatal(err)
		}
		k.stands(team("a"), "ann=stopped bob=stopped boss=adopted eve=running store=adopted")
		_, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("sources", report.Nodes["ann"].Source+" "+report.Nodes["eve"].Source, "started adopted")
	}},

	{"PD-5 a call that is refused takes no node from its pod", func(k *kit) {
		k.get(team("a"), crew)
		_, err := k.pods.Mutate(k.Context(), team("a"), agent.JSON(`[{"remove_node":{"name":"zoe"}}]`), agent.Request{})
		k.refused(err, agent.CodeNotFound, "zoe")
		k.mutate(team("a"), `[{"remove_node":{"name":"eve"}}]`)
		k.stands(team("a"), "ann=stopped bob=stopped boss=adopted store=adopted")
	}},

	{"PD-6 get fails with a report where nodes do, and the pod lives", func(k *kit) {
		const topology = `{"name":"t","nodes":{
			"good":{"manager":"agents","activation":"eager"}, "bad":{"manager":"picky","activation":"eager","initial_state":{"broken":true}},
			"late":{"manager":"agents","activation":"eager"}}, "links":[["depends_on","late","bad"]]}`
		got, err := k.pods.Get(k.Context(), team("a"), pod.Open{Topology: []byte(topology)})
		e := k.refusal(err, agent.CodeReconcileFailed, `node "bad" at start`)
		k.equal("reason", e.Reason, agent.CodeThawFailed)
		k.equal("completed, failed, pending", []any{got.Report.Completed, got.Report.Failed, got.Report.Pending}, "[[good] [bad] [late]]")
		k.equal("bad failed with", got.Report.Failures["bad"].Code, agent.CodeThawFailed)
		i, err := k.pods.Instances.Lookup(k.Context(), team("a"))
		if err != nil || i.Status != agent.InstanceAwake {
			k.Errorf("the pod is %s, %v", i.Status, err)
		}
		k.stands(team("a"), "bad=stopped good=adopted late=stopped")
	}},

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
			`[{"add_node":{"name":"ann","node":{"manager":"agents"}}}]`:                                "there already",
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
		k.stands(team("a"), "kim=adopted lee=stopped store=adopted")
	}},

	{"PD-10 a mutation is stored before anything is done for it, and stays where that fails", func(k *kit) {
		k.get(team("a"), crew)
		k.begin(team("a"), `[{"add_node":{"name":"kim","node":{"manager":"agents","activation":"eager"}}}]`)
		view := k.look(team("a"))
		k.equal("version and status", []any{view.Slot.TopologyVersion, view.Slot.Mutation.Status}, "[2 running]")
		k.stands(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped kim=stopped store=adopted")
		k.get(team("a"), "") // goes on with it

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

	{"PD-12 one key in two scopes is two pods", func(k *kit) {
		k.manage("other")
		other := team("a")
		other.Scope = "other"
		k.get(team("a"), crew)
		k.equal("in the other scope it is", k.get(other, `{"name":"t","nodes":{"boss":{"manager":"agents"}}}`).Created, true)
		k.stands(other, "boss=stopped")
		k.mutate(team("a"), `[{"remove_node":{"name":"boss"}}]`)
		k.stands(other, "boss=stopped")
	}},

	{"PD-13 a node that sleeps is no node that is unknown", func(k *kit) {
		k.get(team("a"), crew)
		shot, err := k.pods.Node(k.Context(), team("a"), "eve")
		if err != nil || shot.Status != pod.Stopped {
			k.Errorf("eve: %+v, %v", shot, err)
		}
		_, err = k.pods.Node(k.Context(), team("a"), "zoe")
		k.refused(err, agent.CodeNotFound, `"zoe"`)
		_, _, err = k.pods.Ensure(k.Context(), team("a"), "zoe", nil)
		k.refused(err, agent.CodeNotFound, `"zoe"`)
		_, err = k.pods.Nodes(k.Context(), team("b"))
		k.refused(err, agent.CodeNotFound, "there is no pod")
		_, err = k.pods.Reconcile(k.Context(), team("b"))
		k.refused(err, agent.CodeNotFound, "there is no pod")
		if _, err := k.pods.Instances.Lookup(k.Context(), team("b")); agent.CodeOf(err) != agent.CodeNotFound {
			k.Errorf("asking for a pod that is not there has made an instance: %v", err)
		}
	}},

	{"PD-14 a pod holds no pod of its own kind, however deep", func(k *kit) {
		_, err := k.pods.Get(k.Context(), team("a"), pod.Open{Topology: []byte(`{"name":"t","nodes":{"n":{"kind":"pod","manager":"teams"}}}`)})
		k.refused(err, agent.CodeInvalid, "teams > teams")
		k.commitIn(agent.DefaultScope, &agent.PutManager{Manager: agent.Manager{
			Name: "rings", Handler: agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName},
			Metadata: agent.JSON(`{"topology":{"name":"ring","nodes":{"n":{"kind":"pod","manager":"teams","activation":"eager"}}}}`),
		}})
		const around = `{"name":"t","nodes":{"ring":{"kind":"pod","manager":"rings","activation":"eager"}}}`
		got, err := k.pods.Get(k.Context(), team("b"), pod.Open{Topology: []byte(around)})
		k.refused(err, agent.CodeReconcileFailed, "teams > rings > teams")
		k.equal("stage", got.Report.Failures["ring"].Stage, pod.StageNested)
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
		k.stands(team("a"), "bob=stopped boss=adopted kim=adopted lee=adopted store=adopted")
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
		long := strings.Repeat("é", 300) // two bytes each: one of the two is cut within one
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

	{"a topology with a circle, two owners or a missing node is refused, and nothing is made", func(k *kit) {
		const nodes = `"nodes":{"a":{"manager":"agents"},"b":{"manager":"agents"},"c":{"manager":"agents"}}`
		for topology, says := range map[string]string{
			`{"name":"t",` + nodes + `,"links":[["depends_on","a","b"],["depends_on","b","a"]]}`: "break the circle",
			`{"name":"t",` + nodes + `,"links":[["owns","a","b"],["owns","b","a"]]}`:             "owns itself",
			`{"name":"t",` + nodes + `,"links":[["owns","a","c"],["owns","b","c"]]}`:             "two owners",
			`{"name":"t",` + nodes + `,"links":[["owns","a","d"]]}`:                              `"d"`,
			`{"name":"7",` + nodes + `}`:                                                         "begins with a letter",
			`[]`:                                                                                 "topology",
		} {
			_, err := k.pods.Get(k.Context(), team("a"), pod.Open{Topology: []byte(topology)})
			e := k.refusal(err, agent.CodeInvalid, says)
			if !strings.HasPrefix(e.Field, "topology") {
				k.Errorf("%s: the field is %q", topology, e.Field)
			}
		}
		_, err := k.pods.Get(k.Context(), team("a"), pod.Open{})
		k.refused(err, agent.CodeInvalid, "neither the call nor")
		_, err = k.pods.Get(k.Context(), agent.InstanceRef{Manager: "agents", Key: "a"}, pod.Open{Topology: []byte(crew)})
		k.refused(err, agent.CodeInvalid, "keeps no pods")
		_, err = k.pods.Get(k.Context(), agent.InstanceRef{Manager: "nobody", Key: "a"}, pod.Open{Topology: []byte(crew)})
		k.refused(err, agent.CodeNotFound, "no manager")
		for _, ref := range []agent.InstanceRef{team("a"), {Manager: "agents", Key: "a"}} {
			if _, err := k.pods.Instances.Lookup(k.Context(), ref); agent.CodeOf(err) != agent.CodeNotFound {
				k.Errorf("%s was made: %v", ref.Manager, err)
			}
		}
	}},

	{"a pod within a pod has nodes of its own, and is torn down whole", nested},

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
		k.stands(team("a"), "ann=stopped bob=stopped boss=stopped eve=stopped store=stopped")
		k.equal("the pod", k.look(team("a")).Status, agent.InstanceDormant)
		k.get(team("a"), "")
		k.stands(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped store=adopted")
	}},

	{"a fork of a pod is the whole of it and goes its own way", forked},

	{"a pod keeps the rest of its state, and gives its slot to nobody", func(k *kit) {
		if _, err := k.pods.Get(k.Context(), team("a"), pod.Open{Topology: []byte(crew), InitialState: []byte(`{"goal":"x"}`)}); err != nil {
			k.Fatal(err)
		}
		signal := func(kind, data string) (agent.Reply, error) {
			return k.pods.Instances.Signal(k.Context(), team("a"), agent.Signal{Type: kind, Data: agent.JSON(data)})
		}
		if _, err := signal(pod.SignalPatch, `{"n":12345678901234567890}`); err != nil {
			k.Fatal(err)
		}
		_, err := signal(pod.SignalPatch, `{"__pod__":null}`)
		k.refused(err, agent.CodeInvalid, "__pod__")
		_, err = signal("append", `{}`)
		k.refused(err, agent.CodeInvalid, "takes no signal")
		k.get(team("a"), "")
		reply, err := signal(pod.SignalGet, `{}`)
		if err != nil || !strings.HasPrefix(string(reply.Data), `{"state":{"goal":"x","n":12345678901234567890,"__pod__":`) {
			k.Errorf("%s, %v", reply.Data, err)
		}
	}},

	{"a pod is stored with each turn whatever its manager's durability", func(k *kit) {
		ref := agent.InstanceRef{Scope: agent.DefaultScope, Manager: "lazy-teams", Key: "a"}
		k.get(ref, crew)
		k.mutate(ref, `[{"remove_node":{"name":"store"}}]`)
		k.equal("stored", k.look(ref).Slot.TopologyVersion, 2)
	}},
}

// fourStatuses are the rows of the table; misplaced is what a pod comes to whose
// slot was written by somebody else.
func fourStatuses(k *kit) {
	k.get(team("a"), crew)
	if _, _, err := k.pods.Ensure(k.Context(), team("a"), "ann", nil); err != nil {
		k.Fatal(err)
	}
	eve := k.node(team("a"), "eve")
	if _, err := k.pods.Instances.Start(k.Context(), eve, agent.StartInstance{}); err != nil { // by hand: it hangs under nobody
		k.Fatal(err)
	}
	if err := k.pods.Instances.Stop(k.Context(), team("a")); err != nil {
		k.Fatal(err)
	}
	slot := k.look(team("a")).Slot
	slot.Bound["ann"] = pod.Bond{Owner: "store"}
	state, err := slot.In(agent.JSON(k.state(team("a"))))
	if err != nil {
		k.Fatal(err)
	}
	id := team("a").Checkpoint()
	k.commitIn(agent.DefaultScope, &agent.PutCheckpoint{Key: id, Version: 1, State: state, Thread: &agent.Pointer{Thread: id}})
	k.get(team("a"), "")
	k.stands(team("a"), "ann=misplaced bob=stopped boss=adopted eve=running store=adopted")
	_, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
	k.refused(err, agent.CodeReconcileFailed, `hangs under node "store"`)
	k.equal("stage, and what waits", []any{report.Failures["ann"].Stage, report.Pending}, "[adopt [eve]]")
}

// nested is a squad within a team.
func nested(k *kit) {
	k.get(team("a"), `{"name":"t","nodes":{"squad":{"kind":"pod","manager":"squads","activation":"eager"},
		"odd":{"kind":"pod","manager":"agents"}}}`)
	squad := k.node(team("a"), "squad")
	k.stands(team("a"), "odd=stopped squad=adopted")
	k.stands(squad, "cook=stopped scout=adopted")
	scout := k.node(squad, "scout")
	_, _, err := k.pods.Ensure(k.Context(), team("a"), "odd", nil)
	k.refused(err, agent.CodeReconcileFailed, "keeps no pods")

	report := k.mutate(team("a"), `[{"remove_node":{"name":"squad"}}]`)
	k.equal("stopped", report.Stopped, "[squad]")
	for _, ref := range []agent.InstanceRef{squad, scout} {
		i, err := k.pods.Instances.Lookup(k.Context(), ref)
		if err != nil || i.Status != agent.InstanceDormant {
			k.Errorf("%s is %s, %v", ref.Key, i.Status, err)
		}
	}
}

// forked is a team with a squad, forked.
func forked(k *kit) {
	k.get(team("a"), `{"name":"t","nodes":{"squad":{"kind":"pod","manager":"squads","activation":"eager"},
		"boss":{"manager":"agents","activation":"eager","initial_state":{"rank":1}},"idler":{"manager":"agents"}}}`)
	scout := k.node(k.node(team("a"), "squad"), "scout")
	k.append(scout, 3)
	made, err := k.pods.Fork(k.Context(), team("a"), "b", agent.Request{})
	if err != nil {
		k.Fatal(err)
	}
	k.equal("nodes that had anything stored", made.Nodes, 3) // squad, scout, boss
	k.append(scout, 2)
	k.stands(team("b"), "boss=stopped idler=stopped squad=stopped")
	k.get(team("b"), "")
	k.stands(team("b"), "boss=adopted idler=stopped squad=adopted")
	copied := k.node(k.node(team("b"), "squad"), "scout")
	i, err := k.pods.Instances.Lookup(k.Context(), copied)
	if err != nil || i.Rev != 3 || i.Status != agent.InstanceAwake {
		k.Errorf("the fork's scout: %+v, %v", i, err)
	}
	k.equal("the fork's boss", k.state(k.node(team("b"), "boss")), `{"rank":1}`)
	k.mutate(team("b"), `[{"remove_node":{"name":"boss"}}]`)
	k.stands(team("a"), "boss=adopted idler=stopped squad=adopted")
	_, err = k.pods.Fork(k.Context(), team("a"), "b", agent.Request{})
	k.refused(err, agent.CodeAlreadyExists, "")
	_, err = k.pods.Fork(k.Context(), team("a"), "a", agent.Request{})
	k.refused(err, agent.CodeInvalid, "itself")
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

// idle fails the claim where a pod's timers are left.
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
