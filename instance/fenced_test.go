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
