package instance_test

import (
	"testing"
	"time"

	"dormouse/agent"
)

// fullScope makes the outcome of the next commit unknown, and has a quota refuse all that follow. lost
// returns that commit.
func fullScope(k *kit) (lost func() agent.Commit) {
	var first *agent.Commit
	hook(k.store, &k.store.before, func(c agent.Commit) error {
		if first == nil {
			first = &c
			return agent.Errorf(agent.CodeUnknown, "the answer was lost")
		}
		return agent.Errorf(agent.CodeQuotaExceeded, "the scope is full")
	})
	return func() agent.Commit {
		hook(k.store, &k.store.before, nil)
		return *first
	}
}

// A turn whose outcome is unknown, and which a quota refuses from then on, ends as unknown. If the
// attempt applies after all, the next turn builds on it.
func TestATurnThatAQuotaRefusesAfterAnUnknownOutcomeEnds(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.send(k.host, "a", signal("patch", `{"n":0}`))
		lost := fullScope(k)
		began := time.Now()
		s := requested(signal("turn", `{"entries":{"kind":"lost"},"patch":{"n":1}}`), "c", 1)
		_, err := k.host.Signal(k.Context(), ref("a"), s)
		k.code(err, agent.CodeUnknown)
		if took := time.Since(began); took < 5*time.Second || took > 20*time.Second {
			k.Errorf("it ended after %v", took)
		}
		if _, err := k.store.Commit(k.Context(), lost()); err != nil {
			k.Fatal(err)
		}
		if reply := k.send(k.host, "a", s); reply.Rev != 1 { // it was handled
			k.Errorf("%+v", reply)
		}
		k.send(k.host, "a", signal("turn", `{"entries":{"kind":"next"},"patch":{"m":1}}`))
		if c := k.checkpoint("a"); string(c.State) != `{"m":1,"n":1}` && string(c.State) != `{"n":1,"m":1}` {
			k.Errorf("%s", c.State)
		}
		if got := k.entries("a"); len(got) != 2 {
			k.Errorf("%v", got)
		}
	})
}

// What an instance keeps in memory stays there when its save ends that way, and the next save stores
// it. The lost attempt applies no more.
func TestASaveThatAQuotaRefusesAfterAnUnknownOutcomeLosesNothing(t *testing.T) {
	sim(t, nil, func(k *kit) {
		k.put(agent.Manager{Name: "m", Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("patch", `{"n":1}`))
		lost := fullScope(k)
		k.code(k.host.Stop(k.Context(), ref("a")), agent.CodeUnknown)
		k.is("a", agent.InstanceAwake)
		again := lost()
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if c := k.checkpoint("a"); c == nil || string(c.State) != `{"n":1}` || c.Revision != 1 {
			k.Errorf("%+v", c)
		}
		if _, err := k.store.Commit(k.Context(), again); err == nil {
			k.Error("the lost attempt applied")
		}
	})
}
