package podtest

import (
	"dormouse/agent"
	"dormouse/instance/pod"
)

// nodes are claims about starting and adopting nodes, and their statuses.
var nodes = []claim{
	{"PD-1 get starts the eager nodes and no lazy one", func(k *kit) {
		got := k.get(team("a"), crew)
		k.equal("created", got.Created, true)
		k.equal("requested", got.Report.Requested, "[boss store]")
		k.equal("boss came", got.Report.Nodes["boss"].Source, pod.SourceStarted)
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=adopted eve=stopped store=adopted")
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
		k.equal("eve has the parent", shot.Actual.Node, "ann") // not the pod
		k.equal("eve's owner", report.Nodes["eve"].Owner, "ann")
		_, report, err = k.pods.Ensure(k.Context(), team("a"), "bob", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("waves", report.Waves, "[[boss store] [bob]]")
		k.expectStatuses(team("a"), "ann=adopted bob=adopted boss=adopted eve=adopted store=adopted")
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
		k.expectStatuses(team("a"), "ann=adopted bob=stopped boss=running eve=adopted store=running")
		got := k.get(team("a"), "")
		k.equal("created", got.Created, false)
		k.equal("sources", got.Report.Nodes["boss"].Source+" "+got.Report.Nodes["store"].Source, "adopted adopted")
		_, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
		if err != nil {
			k.Fatal(err)
		}
		k.equal("eve", report.Nodes["eve"].Source, pod.SourceRunning)
		k.expectStatuses(team("a"), "ann=adopted bob=stopped boss=adopted eve=adopted store=adopted")
	}},

	{"PD-5 an owner that comes back has lost what it owned until it is adopted", func(k *kit) {
		k.get(team("a"), crew)
		if _, _, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil); err != nil {
			k.Fatal(err)
		}
		if err := k.pods.Instances.Stop(k.Context(), k.node(team("a"), "ann")); err != nil {
			k.Fatal(err)
		}
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=adopted eve=running store=adopted")
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
		k.expectStatuses(team("a"), "ann=stopped bob=stopped boss=adopted store=adopted")
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
		k.expectStatuses(team("a"), "bad=stopped good=adopted late=stopped")
	}},
}

// fourStatuses tests each status. A node is misplaced after another client
// wrote the pod's slot.
func fourStatuses(k *kit) {
	k.get(team("a"), crew)
	if _, _, err := k.pods.Ensure(k.Context(), team("a"), "ann", nil); err != nil {
		k.Fatal(err)
	}
	eve := k.node(team("a"), "eve")
	if _, err := k.pods.Instances.Start(k.Context(), eve, agent.StartInstance{}); err != nil { // directly, so it has no parent
		k.Fatal(err)
	}
	if err := k.pods.Instances.Stop(k.Context(), team("a")); err != nil {
		k.Fatal(err)
	}
	slot := k.look(team("a")).Slot
	slot.Parents["ann"] = pod.ParentLink{Owner: "store"}
	state, err := slot.AddTo(agent.JSON(k.state(team("a"))))
	if err != nil {
		k.Fatal(err)
	}
	id := team("a").Checkpoint()
	k.commitIn(agent.DefaultScope, &agent.PutCheckpoint{Key: id, Version: 1, State: state, Thread: &agent.Pointer{Thread: id}})
	k.get(team("a"), "")
	k.expectStatuses(team("a"), "ann=misplaced bob=stopped boss=adopted eve=running store=adopted")
	_, report, err := k.pods.Ensure(k.Context(), team("a"), "eve", nil)
	k.refused(err, agent.CodeReconcileFailed, `its parent is node "store"`)
	k.equal("stage, and what waits", []any{report.Failures["ann"].Stage, report.Pending}, "[adopt [eve]]")
}
