package agenttest

import (
	"time"

	"dormouse/agent"
)

// The idle timeout of these cases, and durations a little below and above it.
const (
	idle  = 4 * time.Second
	short = 3 * time.Second
	long  = 6 * time.Second
)

// idleClaims are the cases of what keeps an instance awake.
var idleClaims = []instanceClaim{
	{name: "M-8_idle_and_unattached_it_hibernates", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		k.start("a", "")
		time.Sleep(short)
		if left := time.UnixMilli(k.is("a", agent.InstanceAwake).IdleAt).Sub(time.Now()); left <= 0 || left > idle-short {
			k.Errorf("it hibernates in %v, expected at most %v", left, idle-short)
		}
		time.Sleep(long - short)
		k.is("a", agent.InstanceDormant)
		sum := k.sum()
		k.equal("awake, hibernated", []any{sum.Awake, sum.Hibernated}, []any{0, uint64(1)})
	}},

	{name: "M-9_attached_it_never_idles_out", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		k.attach("me", time.Hour)
		time.Sleep(3 * long)
		found := k.is("a", agent.InstanceAwake)
		k.equal("attachments, idle_at", []any{found.Attachments, found.IdleAt}, []any{1, int64(0)})
	}},

	{name: "M-10_a_holder_that_vanishes_is_detached", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		k.attach("me", 2*idle)
		time.Sleep(2*idle - time.Second)
		if err := k.at.Touch(k.ctx, k.ref("a"), "me"); err != nil {
			k.Fatal(err)
		}
		time.Sleep(2*idle - time.Second)
		k.equal("attachments after a touch", k.is("a", agent.InstanceAwake).Attachments, 1)
		time.Sleep(2 * time.Second)
		k.equal("attachments after the ttl", k.is("a", agent.InstanceAwake).Attachments, 0)
		k.failure(agent.CodeNotFound, k.at.Touch(k.ctx, k.ref("a"), "me"))
		time.Sleep(long)
		k.is("a", agent.InstanceDormant)
	}},

	{name: "M-11_of_two_holders_both_must_go", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		k.attach("me", time.Hour)
		k.attach("you", time.Hour)
		k.detach("me")
		time.Sleep(long)
		k.equal("attachments", k.is("a", agent.InstanceAwake).Attachments, 1)
		k.detach("you")
		time.Sleep(long)
		k.is("a", agent.InstanceDormant)
	}},

	{name: "M-12_attached_twice_and_detached_once_it_is_detached", prove: func(k *liveKit) {
		k.manage(agent.Manager{})
		k.attach("me", time.Hour)
		k.equal("attachments", k.attach("me", time.Hour).Attachments, 1)
		k.detach("me")
		k.detach("me") // detaching twice is not an error
		k.equal("attachments", k.is("a", agent.InstanceAwake).Attachments, 0)
		k.equal("attachments in all", k.sum().Attachments, 0)
	}},

	{name: "M-13_signals_and_touches_postpone_idling_and_lookups_do_not", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		k.start("a", "")
		for range 2 {
			time.Sleep(short)
			k.signal(k.ref("a"), "get", `{}`)
			time.Sleep(short)
			if err := k.at.Touch(k.ctx, k.ref("a"), ""); err != nil {
				k.Fatal(err)
			}
		}
		time.Sleep(short)
		k.is("a", agent.InstanceAwake)
		time.Sleep(long - short)
		k.is("a", agent.InstanceDormant)
	}},
}
