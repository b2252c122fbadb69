package agenttest

import (
	"fmt"
	"time"

	"dormouse/agent"
)

// ownTimeClaims are the cases of jobs and timers that an instance's turns set.
var ownTimeClaims = []instanceClaim{
	// A job of every second, which fires once: its own turn acknowledges it and
	// cancels it in one commit.
	{name: "C-4_a_job_that_cancels_itself_in_its_turn_comes_once", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		time.Sleep(time.Until(time.Now().Truncate(time.Second).Add(time.Second + 10*time.Millisecond))) // so that it is read before the job fires
		once := `{"entries":{"payload":{"n":1}},"patch":{"done":true},"cron":{"j":null}}`
		job := `{"cron_expression":"* * * * * *","message":{"type":"turn","data":` + once + `},"timezone":"Etc/UTC"}`
		k.equal("durable", k.signal(k.ref("a"), "turn", `{"cron":{"j":`+job+`}}`).Durable, true)
		k.stop("a")
		k.equal("stored", k.stateOf(k.ref("a").Checkpoint()), `{"__cron_specs__":{"j":`+job+`}}`)
		time.Sleep(long)
		k.equal("entries", k.holds(k.ref("a"), `{"done":true}`).Rev, uint64(1))
		k.equal("stored", k.stateOf(k.ref("a").Checkpoint()), `{"done":true}`)
		k.equal("timers", len(find[*agent.TimerList](k.kit, &agent.ListTimers{Manager: "m", Key: "a"}).Items), 0)
	}},

	{name: "C-1_a_turn_sets_a_timer_that_sets_the_next", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		at := func(in time.Duration, then string) string {
			return fmt.Sprintf(`{"entries":{},"timers":{"t":{"at":%d,"type":"turn","data":%s}}}`, time.Now().Add(in).UnixMilli(), then)
		}
		k.signal(k.ref("a"), "turn", at(time.Second, at(long, `{"entries":{},"timers":{"t":null}}`)))
		k.stop("a")
		time.Sleep(2 * long)
		k.equal("entries", k.holds(k.ref("a"), `{}`).Rev, uint64(3))
		k.equal("timers", len(find[*agent.TimerList](k.kit, &agent.ListTimers{Manager: "m", Key: "a"}).Items), 0)
	}},

	{name: "an_instant_that_has_passed_comes_at_once_and_not_where_it_is_to_be_skipped", prove: func(k *liveKit) {
		k.manage(agent.Manager{IdleTimeout: idle})
		past := func(id string, missed agent.Missed) *agent.PutTimer {
			return &agent.PutTimer{Timer: agent.Timer{
				Manager: "m", Key: "a", ID: id, Next: time.Now().Add(-time.Hour).UnixMilli(), Missed: missed,
				Type: "turn", Data: agent.JSON(`{"entries":{},"patch":{"` + id + `":true}}`),
			}}
		}
		k.commit(past("late", ""), past("skipped", agent.MissedSkip))
		time.Sleep(long)
		k.equal("entries", k.holds(k.ref("a"), `{"late":true}`).Rev, uint64(1))
		k.equal("timers", len(find[*agent.TimerList](k.kit, &agent.ListTimers{Manager: "m", Key: "a"}).Items), 0)
	}},
}
