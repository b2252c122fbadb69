package agenttest

import (
	"sync"
	"time"

	"dormouse/agent"
)

// lifeClaims are the cases of starting, stopping and telling instances apart.
var lifeClaims = []instanceClaim{
	{name: "M-1_started_twice_it_is_the_same_instance", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		first, second := k.start("a", `{"n":1}`), k.start("a", `{"n":2}`)
		k.equal("sources", []agent.InstanceSource{first.Source, second.Source}, []agent.InstanceSource{agent.SourceFresh, agent.SourceAwake})
		k.equal("its owner", []any{second.Node, second.Epoch}, []any{first.Node, first.Epoch})
		k.holds(k.ref("a"), `{"n":1}`)
	}},

	{name: "M-2_started_at_once_by_many_it_is_one_instance", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		var mu sync.Mutex
		fresh := 0
		var started sync.WaitGroup
		for range 20 {
			started.Go(func() {
				i, err := k.at.Start(k.ctx, k.ref("a"), agent.StartInstance{InitialState: agent.JSON(`{"n":1}`)})
				mu.Lock()
				defer mu.Unlock()
				if err != nil {
					k.Error(err)
				}
				if i.Source == agent.SourceFresh {
					fresh++
				}
			})
		}
		started.Wait()
		sum := k.sum()
		k.equal("fresh, awake, wakes", []any{fresh, sum.Awake, sum.Wakes}, []any{1, 1, uint64(1)})
		k.equal("revision", find[*agent.Checkpoint](k.kit, &agent.GetCheckpoint{Key: k.ref("a").Checkpoint()}).Revision, uint64(1))
	}},

	{name: "M-3_a_lookup_never_starts", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.is("a", "")
		k.start("a", "")
		k.is("a", agent.InstanceAwake)
		k.stop("a")
		k.is("a", agent.InstanceDormant)
		sum := k.sum()
		k.equal("awake, wakes", []any{sum.Awake, sum.Wakes}, []any{0, uint64(1)})
	}},

	{name: "M-4_a_fresh_one_begins_with_the_initial_state_and_a_thawed_one_does_not", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.start("a", `{"n":1}`)
		k.stop("a")
		k.equal("source", k.start("a", `{"n":2}`).Source, agent.SourceThawed)
		k.holds(k.ref("a"), `{"n":1}`)
	}},

	{name: "M-5_stopped_and_started_again_it_is_what_it_was", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		reply := k.signal(k.ref("a"), "turn", `{"entries":{"kind":"message"},"patch":{"n":1}}`)
		k.equal("durable", reply.Durable, true)
		k.stop("a")
		i := k.start("a", "")
		k.equal("thawed", []any{i.Source, i.Rev, i.Revision}, []any{agent.SourceThawed, reply.Rev, reply.Revision})
		k.holds(k.ref("a"), `{"n":1}`)
	}},

	{name: "M-6_what_is_not_awake_cannot_be_stopped", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.failure(agent.CodeNotFound, k.at.Stop(k.ctx, k.ref("a")))
		k.failure(agent.CodeNotFound, k.at.Hibernate(k.ctx, k.ref("a")))
		k.failure(agent.CodeNotFound, k.at.Touch(k.ctx, k.ref("a"), ""))
		k.start("a", "")
		k.stop("a")
		k.failure(agent.CodeNotFound, k.at.Stop(k.ctx, k.ref("a")))
		if err := k.at.Hibernate(k.ctx, k.ref("a")); err != nil {
			k.Errorf("hibernate a dormant instance: %v", err)
		}
	}},

	{name: "M-7_without_a_storage_the_state_is_gone_after_a_stop", prove: func(k *liveKit) {
		k.manage(agent.Manager{Storage: agent.KeepNone})
		k.start("a", `{"n":1}`)
		k.equal("durable", k.signal(k.ref("a"), "patch", `{"n":2}`).Durable, false)
		k.holds(k.ref("a"), `{"n":2}`)
		k.stop("a")
		k.is("a", "")
		k.holds(k.ref("a"), `{}`)
		k.lacks(agent.CodeNotFound, &agent.GetCheckpoint{Key: k.ref("a").Checkpoint()})
	}},

	{name: "M-14_what_does_not_thaw_is_not_started", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.commit(&agent.PutCheckpoint{Key: k.ref("a").Checkpoint(), Version: 2})
		_, err := k.at.Start(k.ctx, k.ref("a"), agent.StartInstance{})
		k.equal("reason", k.failure(agent.CodeThawFailed, err).Reason, "version")
		_, err = k.at.Signal(k.ctx, k.ref("a"), agent.Signal{Type: "get"})
		k.failure(agent.CodeThawFailed, err)
		sum := k.sum()
		k.equal("awake, waking", []int{sum.Awake, sum.Waking}, []int{0, 0})
		k.commit(&agent.PutCheckpoint{Key: k.ref("a").Checkpoint(), State: agent.JSON(`{"n":1}`)})
		k.holds(k.ref("a"), `{"n":1}`)
	}},

	{name: "M-15_one_key_in_two_scopes_is_two_instances", prove: func(k *liveKit) {
		other := &liveKit{kit: k.in(newName("scope")), fleet: k.fleet, at: k.at}
		for i, one := range []*liveKit{k, other} {
			one.manage(agent.Manager{})
			one.signal(one.ref("a"), "patch", []string{`{"n":1}`, `{"n":2}`}[i])
		}
		k.holds(k.ref("a"), `{"n":1}`)
		other.holds(other.ref("a"), `{"n":2}`)
		k.equal("awake in each", []int{k.sum().Awake, other.sum().Awake}, []int{1, 1})
	}},

	{name: "M-16_one_key_of_two_managers_is_two_instances", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.commit(&agent.PutManager{Manager: agent.Manager{Name: "m2", Handler: agent.Handler{Kind: agent.HandlerDocument}}})
		second := agent.InstanceRef{Scope: k.scope, Manager: "m2", Key: "a"}
		k.signal(k.ref("a"), "patch", `{"n":1}`)
		k.signal(second, "patch", `{"n":2}`)
		k.holds(k.ref("a"), `{"n":1}`)
		k.holds(second, `{"n":2}`)
	}},

	{name: "M-21_who_comes_while_it_stops_reaches_a_live_one", prove: func(k *liveKit) {
		k.manage(agent.Manager{Durability: agent.DurabilityIdle})
		const senders, each = 4, 10
		done := make(chan struct{})
		var stopping, sending sync.WaitGroup
		stopping.Go(func() {
			for {
				select {
				case <-done:
					return
				case <-time.After(time.Millisecond):
				}
				if err := k.at.Stop(k.ctx, k.ref("a")); err != nil && agent.CodeOf(err) != agent.CodeNotFound {
					k.Errorf("stop: %v", err)
				}
			}
		})
		for range senders {
			sending.Go(func() {
				for range each {
					time.Sleep(time.Millisecond)
					if _, err := k.at.Signal(k.ctx, k.ref("a"), agent.Signal{Type: "append", Data: agent.JSON(`{"entries":{}}`)}); err != nil {
						k.Errorf("signal: %v", err)
					}
				}
			})
		}
		sending.Wait()
		close(done)
		stopping.Wait()
		k.equal("entries", k.holds(k.ref("a"), `{}`).Rev, uint64(senders*each))
		if sum := k.sum(); sum.Wakes < 2 {
			k.Errorf("it never fell asleep: %+v", sum)
		}
	}},
}
