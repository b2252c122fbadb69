package agenttest

import (
	"context"
	"fmt"
	"time"

	"dormouse/agent"
)

// keepingClaims are the cases of what is stored, and what replies say about it.
var keepingClaims = []instanceClaim{
	{name: "M-18_a_hibernation_that_fails_is_seen_and_loses_nothing", prove: func(k *liveKit) { savesLater(k, agent.Instances.Hibernate) }},
	{name: "M-19_a_stop_is_ok_only_once_all_is_durable", prove: func(k *liveKit) { savesLater(k, agent.Instances.Stop) }},

	{name: "M-20_a_turn_that_was_acknowledged_is_what_it_starts_again_from", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		ref := k.remote()
		k.signal(ref, "patch", `{"n":1}`)
		k.stop(ref.Key)
		owner := k.start(ref.Key, "").Node // thawed at 1
		k.equal("durable", k.signal(ref, "patch", `{"n":2}`).Durable, true)
		k.fleet.Faults.Crash(owner)
		k.stillHolds(ref, `{"n":2}`)
		k.fleet.Faults.Mend(owner)
	}},

	{name: "M-17_a_crash_does_not_hibernate", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		ref := k.remote()
		k.signal(ref, "patch", `{"n":1}`)
		k.stop(ref.Key)
		reply := k.signal(ref, "patch", `{"n":2}`)
		k.equal("durable", reply.Durable, false)
		k.fleet.Faults.Crash(reply.Node)
		k.stillHolds(ref, `{"n":1}`)
		k.fleet.Faults.Mend(reply.Node)
	}},
}

// savesLater checks a call that stores an instance, in a scope that is full at first
// and then has room.
func savesLater(k *liveKit, store func(agent.Instances, context.Context, agent.InstanceRef) error) {
	k.manage(agent.Manager{Durability: agent.DurabilityIdle})
	k.start("a", `{"n":1}`)
	k.signal(k.ref("a"), "patch", `{"text":"more than there is room for"}`)
	k.commit(&agent.PutScope{Policy: agent.Policy{BytesMax: 1}})
	ctx, cancel := context.WithTimeout(k.ctx, 5*time.Second) // an overloaded call may be retried for that long
	defer cancel()
	k.failure(agent.CodeQuotaExceeded, store(k.at, ctx, k.ref("a")))
	k.is("a", agent.InstanceAwake)
	if sum := k.sum(); sum.Awake != 1 || sum.Failed == 0 || sum.Hibernated != 0 {
		k.Errorf("it could not be stored: %+v", sum)
	}
	k.commit(&agent.PutScope{})
	if err := store(k.at, k.ctx, k.ref("a")); err != nil {
		k.Fatal(err)
	}
	k.is("a", agent.InstanceDormant)
	k.holds(k.ref("a"), `{"n":1,"text":"more than there is room for"}`)
}

// remote returns an instance whose owner is not the node that serves the calls.
func (k *liveKit) remote() agent.InstanceRef {
	k.Helper()
	for n := range 100 {
		if ref := k.ref(fmt.Sprint("k", n)); k.start(ref.Key, "").Node != k.fleet.Through {
			return ref
		}
	}
	k.Fatalf("%s owns all instances", k.fleet.Through)
	return agent.InstanceRef{}
}

// ownerClaims are the cases of instances' owners.
var ownerClaims = []instanceClaim{
	{name: "CL-1_one_node_answers_for_a_key_in_an_epoch", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		owner := k.start("a", "")
		for range 5 {
			reply := k.signal(k.ref("a"), "append", `{"entries":{}}`)
			k.equal("its owner", []any{reply.Node, reply.Epoch}, []any{owner.Node, owner.Epoch})
		}
		k.equal("awake", k.sum().Awake, 1)
	}},

	{name: "CL-2_CL-12_a_key_is_placed_by_scope_manager_and_itself", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.commit(&agent.PutManager{Manager: agent.Manager{Name: "m2", Handler: agent.Handler{Kind: agent.HandlerDocument}}})
		together := 0
		for n := range 20 {
			i := k.start(fmt.Sprint("k", n), "")
			k.stop(i.Key)
			again := k.start(i.Key, "")
			k.equal("its owner", []any{again.Partition, again.Node, again.Epoch}, []any{i.Partition, i.Node, i.Epoch})
			other, err := k.at.Start(k.ctx, agent.InstanceRef{Scope: k.scope, Manager: "m2", Key: i.Key}, agent.StartInstance{})
			if err != nil {
				k.Fatal(err)
			}
			if other.Partition == i.Partition {
				together++
			}
		}
		if together > 3 { // by chance one in 4,096
			k.Errorf("%d of 20 keys have one partition under two managers", together)
		}
	}},

	{name: "CL-3_CL-10_a_node_that_is_retired_hands_over", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		ref := k.remote()
		k.signal(ref, "turn", `{"entries":{},"patch":{"n":1}}`)
		moves(k, ref, k.fleet.Faults.Retire, `{"n":1}`, 1)
	}},

	{name: "CL-4_what_a_dead_node_acknowledged_lives_on", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		ref := k.remote()
		for n := range uint64(3) {
			k.equal("rev", k.appends(ref, n+1).Rev, n+1)
		}
		moves(k, ref, k.fleet.Faults.Crash, `{}`, 3)
	}},

	{name: "CL-5_CL-8_unavailable_is_not_absent", lost: true, prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		ref := k.remote()
		k.equal("rev", k.appends(ref, 1).Rev, uint64(1))
		owner := k.is(ref.Key, agent.InstanceAwake)
		k.fleet.Faults.Cut(owner.Node)
		ctx, cancel := context.WithTimeout(k.ctx, time.Second) // much less than a lease
		defer cancel()
		if i, err := k.at.Lookup(ctx, ref); err == nil {
			k.Errorf("lookup returned %+v", i)
		} else {
			k.failure(agent.CodeUnavailable, err)
		}
		if reply := k.appends(ref, 2); reply.Rev != 2 || reply.Node == owner.Node || reply.Epoch <= owner.Epoch {
			k.Errorf("%+v, after it was at %s in epoch %d", reply, owner.Node, owner.Epoch)
		}
		k.fleet.Faults.Mend(owner.Node)
		if reply := k.appends(ref, 3); reply.Rev != 3 || reply.Epoch <= owner.Epoch {
			k.Errorf("after the cut: %+v", reply)
		}
	}},
}

// moves loses the owner of an instance, which must continue on another node with its
// state.
func moves(k *liveKit, ref agent.InstanceRef, lose func(string), state string, rev uint64) {
	owner := k.is(ref.Key, agent.InstanceAwake)
	lose(owner.Node)
	reply := k.stillHolds(ref, state)
	if reply.Rev != rev || reply.Node == owner.Node || reply.Epoch <= owner.Epoch {
		k.Errorf("%+v, after it was at %s in epoch %d", reply, owner.Node, owner.Epoch)
	}
	k.fleet.Faults.Mend(owner.Node)
	if again := k.stillHolds(ref, state); again.Rev != rev || again.Epoch < reply.Epoch {
		k.Errorf("%+v, after %+v", again, reply)
	}
}
