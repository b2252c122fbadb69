// Package podtest is the conformance suite of pods: the claims PD-1 to PD-15
// over the pod.Pods of any running cluster.
package podtest

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/instance"
	"dormouse/instance/pod"
)

// Run runs each claim as a subtest in a bubble of virtual time. open starts a
// cluster, whose nodes have Handlers, within the bubble.
func Run(t *testing.T, open func(t *testing.T) pod.Pods) {
	t.Helper()
	for _, c := range claims {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := &kit{T: t, pods: open(t)}
				k.manage(agent.DefaultScope)
				c.holds(k)
			})
		})
	}
}

// Handlers returns the handlers that each node must register.
func Handlers() map[string]instance.GoHandler {
	return map[string]instance.GoHandler{"podtest": {New: func(agent.InstanceRef) instance.Handler { return picky{} }}}
}

// picky fails to wake if its state says so, with the state in the error.
type picky struct{ instance.Handler }

// Restore implements instance.Restorer.
func (picky) Restore(state agent.JSON) error {
	if strings.Contains(string(state), `"broken":true`) {
		return fmt.Errorf("it is broken: %s", state)
	}
	return nil
}

// claim is one property of pods.
type claim struct {
	name  string
	holds func(k *kit)
}

// kit is the environment of a claim.
type kit struct {
	*testing.T
	pods pod.Pods
}

// manage puts the managers that the claims use into a scope.
func (k *kit) manage(scope string) {
	k.Helper()
	document, pods := agent.Handler{Kind: agent.HandlerDocument}, agent.Handler{Kind: agent.HandlerGo, Name: pod.HandlerName}
	squad := agent.JSON(`{"topology":{"name":"squad","nodes":{"scout":{"manager":"agents","activation":"eager"},"cook":{"manager":"agents"}}}}`)
	for _, m := range []agent.Manager{
		{Name: "agents", Handler: document},
		{Name: "picky", Handler: agent.Handler{Kind: agent.HandlerGo, Name: "podtest"}},
		{Name: "teams", Handler: pods},
		{Name: "lazy-teams", Handler: pods, Durability: agent.DurabilityIdle},
		{Name: "squads", Handler: pods, Metadata: squad},
	} {
		k.commitIn(scope, &agent.PutManager{Manager: m})
	}
}

func (k *kit) commitIn(scope string, ops ...agent.Op) {
	k.Helper()
	if _, err := k.pods.Service.Commit(k.Context(), agent.Commit{Scope: scope, Ops: ops}); err != nil {
		k.Fatal(err)
	}
}

func team(key string) agent.InstanceRef {
	return agent.InstanceRef{Scope: agent.DefaultScope, Manager: "teams", Key: key}
}

// crew is a pod of five: boss owns ann and bob, ann owns eve, bob depends on the
// store. Boss and the store are eager.
const crew = `{"name":"crew","nodes":{
	"boss":{"manager":"agents","activation":"eager","initial_state":{"rank":1}}, "ann":{"manager":"agents","initial_state":{"rank":2}},
	"bob":{"manager":"agents"}, "eve":{"manager":"agents","initial_state":{"rank":3}}, "store":{"manager":"agents","activation":"eager"}},
	"links":[["owns","boss","ann"],["owns","boss","bob"],["owns","ann","eve"],["depends_on","bob","store"]]}`

// get gets a pod, which must succeed.
func (k *kit) get(ref agent.InstanceRef, topology string) pod.GetResult {
	k.Helper()
	open := pod.Open{}
	if topology != "" {
		open.Topology = []byte(topology)
	}
	got, err := k.pods.Get(k.Context(), ref, open)
	if err != nil {
		k.Fatalf("get pod %s: %v", ref.Key, err)
	}
	return got
}

// mutate changes a pod, which must succeed.
func (k *kit) mutate(ref agent.InstanceRef, ops string) pod.Report {
	k.Helper()
	report, err := k.pods.Mutate(k.Context(), ref, agent.JSON(ops), agent.Request{})
	if err != nil {
		k.Fatalf("mutate pod %s: %v", ref.Key, err)
	}
	return report
}

// begin begins a mutation without running its steps, like a client that dies.
func (k *kit) begin(ref agent.InstanceRef, ops string) {
	k.Helper()
	if _, err := k.pods.Instances.Signal(k.Context(), ref, agent.Signal{Type: pod.SignalMutate, Data: agent.JSON(`{"ops":` + ops + `}`)}); err != nil {
		k.Fatal(err)
	}
}

// expectStatuses fails the claim if the statuses of a pod's nodes differ from want, and
// returns the nodes.
func (k *kit) expectStatuses(ref agent.InstanceRef, want string) []pod.Snapshot {
	k.Helper()
	shots, err := k.pods.Nodes(k.Context(), ref)
	if err != nil {
		k.Fatalf("nodes of pod %s: %v", ref.Key, err)
	}
	var got []string
	for _, s := range shots {
		got = append(got, fmt.Sprint(s.Name, "=", s.Status))
		if s.Adopted != (s.Status == pod.Adopted) || s.Adopted != (s.Actual != nil && *s.Actual == s.Expected) {
			k.Errorf("%+v is at odds with itself", s)
		}
	}
	if line := strings.Join(got, " "); line != want {
		k.Errorf("pod %s:\n%s, want\n%s", ref.Key, line, want)
	}
	return shots
}

// node returns the instance of a pod's node.
func (k *kit) node(ref agent.InstanceRef, name string) agent.InstanceRef {
	k.Helper()
	view := k.look(ref)
	n, err := view.Slot.Topology.NodeRef(ref, name)
	if err != nil {
		k.Fatal(err)
	}
	return n
}

func (k *kit) look(ref agent.InstanceRef) pod.View {
	k.Helper()
	view, err := k.pods.Lookup(k.Context(), ref)
	if err != nil {
		k.Fatal(err)
	}
	return view
}

// state returns the stored state of an instance.
func (k *kit) state(ref agent.InstanceRef) string {
	k.Helper()
	answers, err := k.pods.Service.Read(k.Context(), agent.Reads{Scope: ref.Scope, Reads: []agent.Read{&agent.GetCheckpoint{Key: ref.Checkpoint()}}})
	if err != nil {
		k.Fatal(err)
	}
	c, ok := answers.Answers[0].Found.(*agent.Checkpoint)
	if !ok {
		return ""
	}
	return string(c.State)
}

// refusal returns err as an agent.Error, and fails the claim if its code or
// text differs.
func (k *kit) refusal(err error, want agent.Code, says string) *agent.Error {
	k.Helper()
	var e *agent.Error
	if !errors.As(err, &e) || e.Code != want || !strings.Contains(e.Detail, says) {
		k.Fatalf("%v, want %s: …%s…", err, want, says)
	}
	return e
}

// refused fails the claim if err has another code or text.
func (k *kit) refused(err error, want agent.Code, says string) {
	k.Helper()
	_ = k.refusal(err, want, says)
}

// equal fails the claim if got and want are formatted differently.
func (k *kit) equal(what string, got, want any) {
	k.Helper()
	if g, w := fmt.Sprint(got), fmt.Sprint(want); g != w {
		k.Errorf("%s: %s, want %s", what, g, w)
	}
}
