package podtest

import (
	"strings"

	"dormouse/agent"
	"dormouse/instance/pod"
)

// slots are claims about a pod's slot.
var slots = []claim{
	{"PD-12 one key in two scopes is two pods", func(k *kit) {
		k.manage("other")
		other := team("a")
		other.Scope = "other"
		k.get(team("a"), crew)
		k.equal("in the other scope it is", k.get(other, `{"name":"t","nodes":{"boss":{"manager":"agents"}}}`).Created, true)
		k.expectStatuses(other, "boss=stopped")
		k.mutate(team("a"), `[{"remove_node":{"name":"boss"}}]`)
		k.expectStatuses(other, "boss=stopped")
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

	{"a topology with a cycle, two owners or a missing node is refused, and nothing is made", func(k *kit) {
		const nodes = `"nodes":{"a":{"manager":"agents"},"b":{"manager":"agents"},"c":{"manager":"agents"}}`
		for topology, says := range map[string]string{
			`{"name":"t",` + nodes + `,"links":[["depends_on","a","b"],["depends_on","b","a"]]}`: "break the cycle",
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
		k.refused(err, agent.CodeInvalid, "is not a manager of pods")
		_, err = k.pods.Get(k.Context(), agent.InstanceRef{Manager: "missing", Key: "a"}, pod.Open{Topology: []byte(crew)})
		k.refused(err, agent.CodeNotFound, "no manager")
		for _, ref := range []agent.InstanceRef{team("a"), {Manager: "agents", Key: "a"}} {
			if _, err := k.pods.Instances.Lookup(k.Context(), ref); agent.CodeOf(err) != agent.CodeNotFound {
				k.Errorf("%s was made: %v", ref.Manager, err)
			}
		}
	}},

	{"a pod keeps the rest of its state, and no client can patch its slot", func(k *kit) {
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
