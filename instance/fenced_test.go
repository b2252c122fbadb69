package instance_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/instance"
)

// An op of a turn on a claim that another holds is refused as fenced. That says nothing of the
// partition: the instance stays, with what is not stored yet.
func TestAClaimThatATurnDoesNotHoldIsNoMove(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		f.handle = func(t *instance.Turn) error {
			if t.Type() == "renew" {
				t.Commit(&agent.RenewClaim{Claim: "c", Holder: "me", Epoch: 1})
				return nil
			}
			return t.Patch(agent.JSON(`{"n":1}`))
		}
		k.put(agent.Manager{Name: "m", Handler: goHandler, Durability: agent.DurabilityIdle})
		k.send(k.host, "a", signal("patch", ""))
		_, err := k.host.Signal(k.Context(), ref("a"), requested(signal("renew", ""), "c", 1))
		k.code(err, agent.CodeFenced)
		if i := k.is("a", agent.InstanceAwake); i.Rev != 0 {
			k.Errorf("%+v", i)
		}
		if err := k.host.Stop(k.Context(), ref("a")); err != nil {
			k.Fatal(err)
		}
		if c := k.checkpoint("a"); c == nil || string(c.State) != `{"n":1}` {
			k.Errorf("the checkpoint is %+v", c)
		}
	})
}

// A turn that writes elsewhere alone is about the stored state too: a client that wrote to the checkpoint makes the
// handler run again.
func TestATurnOfOpsAloneIsFencedByTheRevision(t *testing.T) {
	withHandler(t, func(k *kit, f *funcs) {
		k.put(agent.Manager{Name: "m", Handler: goHandler})
		k.start("a", `{"x":1}`)
		f.handle = func(t *instance.Turn) error { return t.SetState(agent.JSON(`{"x":2}`)) }
		k.send(k.host, "a", signal("x", ""))
		asked := 0
		f.handle = func(t *instance.Turn) error {
			if asked++; asked == 1 {
				k.write(&agent.PatchCheckpoint{Key: ref("a").Checkpoint(), Patch: agent.JSON(`{"x":3}`)})
			}
			t.Commit(&agent.PutValue{Key: "seen", Bytes: []byte(t.State())})
			return nil
		}
		s := requested(signal("x", ""), "c", 1)
		reply := k.send(k.host, "a", s)
		answers, err := k.node.Read(k.Context(), agent.Reads{Reads: []agent.Read{&agent.GetValue{Key: "seen"}}})
		if err != nil {
			k.Fatal(err)
		}
		if v, ok := answers.Answers[0].Found.(*agent.Value); !ok || string(v.Bytes) != `{"x":3}` || asked != 2 {
			k.Errorf("in %d runs the handler has seen %+v", asked, answers.Answers[0])
		}
		if again := k.send(k.host, "a", s); reply.Revision != 3 || again.Revision != 3 || asked != 2 {
			k.Errorf("the turn wrote no state, and its reply is of revision %d, again %d", reply.Revision, again.Revision)
		}
	})
}
