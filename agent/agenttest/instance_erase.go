package agenttest

import (
	"context"
	"time"

	"dormouse/agent"
)

// erasedClaims are the cases of awake instances whose agent is erased, or written by
// other callers.
var erasedClaims = []instanceClaim{
	{name: "an_erased_instance_ends_with_its_state", prove: func(k *liveKit) {
		for _, m := range []agent.Manager{{}, {Durability: agent.DurabilityIdle}, {Storage: agent.KeepNone}} {
			k.manage(m)
			time.Sleep(2 * time.Second) // the owner has read the manager
			k.start("a", `{"n":1}`)
			k.signal(k.ref("a"), "patch", `{"secret":true}`)
			k.equal("instances", k.erase().Instances, uint64(1))
			k.is("a", "")
			k.holds(k.ref("a"), `{}`)
			k.stop("a")
			k.holds(k.ref("a"), `{}`)
			k.erase()
			k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: k.ref("a").Checkpoint()})
		}
	}},

	{name: "an_erased_instance_ends_while_it_sleeps_and_where_there_is_none", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.equal("instances", k.erase().Instances, uint64(0))
		k.start("a", `{"n":1}`)
		k.stop("a")
		first := k.erase()
		k.equal("instances, checkpoints", []uint64{first.Instances, first.Checkpoints}, []uint64{1, 1})
		again := k.erase()
		k.equal("the receipt again", []any{again.Index, again.Instances, again.Hash}, []any{first.Index, first.Instances, first.Hash})
	}},

	{name: "an_erased_instance_has_no_timers_and_no_jobs", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		job := `{"cron_expression":"* * * * * *","message":{"type":"turn","data":{"entries":{}}},"timezone":"Etc/UTC"}`
		k.signal(k.ref("a"), "turn", `{"cron":{"j":`+job+`}}`)
		k.commit(&agent.PutTimer{Timer: agent.Timer{
			Manager: "m", Key: "a", ID: "t", Next: time.Now().Add(time.Hour).UnixMilli(), Type: "turn", Data: agent.JSON(`{}`),
		}})
		time.Sleep(long)
		k.equal("timers", k.erase().Timers, uint64(2))
		time.Sleep(long)
		k.is("a", "")
		k.equal("timers left", len(find[*agent.TimerList](k.kit, &agent.ListTimers{Manager: "m", Key: "a"}).Items), 0)
	}},

	{name: "an_erasure_leaves_other_instances_alone", prove: func(k *liveKit) {
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		for _, key := range []string{"a", "aa", "b"} {
			k.start(key, `{"key":"`+key+`"}`)
		}
		k.erase()
		k.holds(k.ref("aa"), `{"key":"aa"}`)
		k.holds(k.ref("b"), `{"key":"b"}`)
	}},

	{name: "a_deleted_scope_is_not_brought_back_by_its_instances", prove: func(k *liveKit) {
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		k.start("a", `{"secret":true}`)
		k.signal(k.ref("a"), "patch", `{"n":1}`)
		k.commit(&agent.DeleteScope{})
		_ = k.at.Stop(k.ctx, k.ref("a")) // any result is allowed: the manager is gone
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: k.ref("a").Checkpoint()})
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		time.Sleep(2 * time.Second) // the owner has read the manager
		_ = k.at.Stop(k.ctx, k.ref("a"))
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: k.ref("a").Checkpoint()})
		k.holds(k.ref("a"), `{}`)
	}},

	{name: "a_turn_that_only_reads_sees_what_was_written_from_outside", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.start("a", `{"n":1}`)
		k.holds(k.ref("a"), `{"n":1}`)
		key := k.ref("a").Checkpoint()
		k.commit(&agent.PatchCheckpoint{Key: key, Patch: agent.JSON(`{"n":2}`)})
		k.holds(k.ref("a"), `{"n":2}`)
		rev := k.signal(k.ref("a"), "append", `{"entries":[{"payload":{}}]}`).Rev
		k.commit(&agent.AppendThread{Thread: key, Entries: []agent.Draft{{Payload: agent.JSON(`{"outside":true}`)}}})
		k.equal("rev", k.holds(k.ref("a"), `{"n":2}`).Rev, rev+1)
		k.commit(&agent.DeleteCheckpoint{Key: key})
		k.holds(k.ref("a"), `{}`)
	}},
}

// erase erases the agent of instance a, and waits until the receipt is complete.
func (k *liveKit) erase() *agent.Erasure {
	k.Helper()
	name := k.ref("a").Checkpoint()
	receipt, ok := k.commit(&agent.EraseAgent{Agent: name}).Results[0].(*agent.Erasure)
	if !ok {
		k.Fatal("the result is not a receipt")
	}
	receipt, err := agent.AwaitErasure(k.ctx, receipt, func(context.Context) (*agent.Erasure, error) {
		return find[*agent.Erasure](k.kit, &agent.GetErasure{Agent: name}), nil
	})
	if err != nil {
		k.Fatal(err)
	}
	return receipt
}
