package agenttest

import (
	"fmt"
	"strings"

	"dormouse/agent"
)

// nightly returns a cron with all fields set.
func nightly(id string) agent.Timer {
	return agent.Timer{
		Manager: "m/1", Key: "k ü", ID: id, Cron: "0 30 2 * * 1-5", TimeZone: "Europe/Paris", Missed: agent.MissedCatchUp, CatchUp: 3,
		Type: "remind", Data: agent.JSON(`{"n":18446744073709551615}`),
	}
}

// farAway is an instant after the end of any test.
const farAway = 4_102_444_800_000 // 2100

// alarm returns a timer that fires once, in 2100.
func alarm(id string) *agent.PutTimer {
	return &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: id, Next: farAway}}
}

func timerAt(id string) *agent.GetTimer { return &agent.GetTimer{Manager: "m", Key: "k", ID: id} }

func acknowledge(t agent.Timer, next int64) *agent.AckTimer {
	return &agent.AckTimer{Manager: t.Manager, Key: t.Key, ID: t.ID, Generation: t.Generation, Instant: t.Next, Next: next}
}

// asPut clears the occurrence, which the leader may have computed since the put.
func asPut(t agent.Timer) agent.Timer {
	t.Next = 0
	return t
}

var timerClaims = []claim{
	{"a_timer_is_read_as_it_was_put", func(k *kit) {
		want := nightly("t")
		result := k.commit(&agent.PutTimer{Timer: want})
		got := resultOf[*agent.TimerResult](k, result, 0).Timer
		if got.Generation == 0 {
			k.Fatal("a timer without a generation")
		}
		want.Generation, want.CreatedAt, want.UpdatedAt = got.Generation, result.Time, result.Time
		k.equal("read", asPut(*find[*agent.Timer](k, &agent.GetTimer{Manager: want.Manager, Key: want.Key, ID: "t"})), want)
		list := find[*agent.TimerList](k, &agent.ListTimers{Manager: want.Manager, Key: want.Key})
		if len(list.Items) != 1 || list.Next != "" {
			k.Fatalf("listed: %+v", list)
		}
		k.equal("listed", asPut(list.Items[0]), want)
		want.Data = nil
		k.equal("result", got, want)
	}},

	{"C-2_a_put_replaces_the_timer", func(k *kit) {
		first := apply[*agent.TimerResult](k, alarm("t")).Timer
		again := alarm("t")
		again.Timer.Next += 1000
		second := apply[*agent.TimerResult](k, again).Timer
		if second.Generation <= first.Generation || second.CreatedAt != first.CreatedAt {
			k.Fatalf("put again: %+v after %+v", second, first)
		}
		k.refuse(agent.CodeConflict, 0, acknowledge(first, 0))
		if list := find[*agent.TimerList](k, &agent.ListTimers{Manager: "m"}); len(list.Items) != 1 || list.Items[0].Next != farAway+1000 {
			k.Fatalf("there are %+v", list.Items)
		}
	}},

	{"C-4_a_cancelled_timer_is_gone", func(k *kit) {
		k.commit(alarm("t"), alarm("u"))
		if r := apply[*agent.DeleteResult](k, &agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}); !r.Existed {
			k.Fatal("it was not there")
		}
		k.lacks(agent.CodeNotFound, timerAt("t"))
		find[*agent.Timer](k, timerAt("u"))
	}},

	{"C-5_cancelling_an_unknown_timer_is_fine", func(k *kit) {
		if r := apply[*agent.DeleteResult](k, &agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}); r.Existed {
			k.Fatal("there was one")
		}
	}},

	{"C-9_a_bad_plan_is_refused_with_its_field", func(k *kit) {
		for field, change := range map[string]func(*agent.Timer){
			"cron":      func(t *agent.Timer) { t.Cron = "61 * * * *" },
			"time_zone": func(t *agent.Timer) { t.TimeZone = "Mars/Olympus" },
			"missed":    func(t *agent.Timer) { t.Missed = "often" },
			"data":      func(t *agent.Timer) { t.Data = agent.JSON(`[]`) },
		} {
			bad := nightly("t")
			change(&bad)
			k.refuseInvalid(agent.CodeInvalid, 0, field, &agent.PutTimer{Timer: bad})
		}
		k.lacks(agent.CodeNotFound, &agent.GetTimer{Manager: "m/1", Key: "k ü", ID: "t"})
	}},

	{"an_occurrence_is_acknowledged_once_with_its_turn", func(k *kit) {
		t := apply[*agent.TimerResult](k, alarm("t")).Timer
		turn := &agent.AppendThread{Thread: "turns", Entries: []agent.Draft{{Payload: agent.JSON(`{}`)}}}
		k.commit(turn, acknowledge(t, farAway+5000))
		k.refuse(agent.CodeConflict, 1, turn, acknowledge(t, farAway+5000))
		next := *find[*agent.Timer](k, timerAt("t"))
		if next.Next != farAway+5000 {
			k.Fatalf("the next occurrence is %+v", next)
		}
		k.commit(turn, acknowledge(next, 0))
		k.lacks(agent.CodeNotFound, timerAt("t"))
		if got := find[*agent.Thread](k, &agent.GetThread{Thread: "turns"}).Rev; got != 2 {
			k.Fatalf("two occurrences had %d turns", got)
		}
	}},

	{"a_timer_is_parked_after_its_last_attempt", func(k *kit) {
		t := apply[*agent.TimerResult](k, alarm("t")).Timer
		for range agent.TimerAttemptsMax {
			fail := &agent.FailTimer{Manager: "m", Key: "k", ID: "t", Generation: t.Generation, Instant: t.Next, NotBefore: farAway, Error: "it broke"}
			t = apply[*agent.TimerResult](k, fail).Timer
		}
		if got := *find[*agent.Timer](k, timerAt("t")); !got.Parked || got.LastError != "it broke" || got.Attempts != agent.TimerAttemptsMax {
			k.Fatalf("it is %+v", got)
		}
		if got := apply[*agent.TimerResult](k, alarm("t")).Timer; got.Parked || got.Attempts != 0 {
			k.Fatalf("put again it is %+v", got)
		}
	}},

	{"a_timer_that_waits_for_its_manager_is_not_parked", func(k *kit) {
		t := apply[*agent.TimerResult](k, alarm("t")).Timer
		for range agent.TimerAttemptsMax + 1 {
			fail := &agent.FailTimer{Manager: "m", Key: "k", ID: "t", Generation: t.Generation, Instant: t.Next, NotBefore: farAway, Error: "no such manager", Waits: true}
			t = apply[*agent.TimerResult](k, fail).Timer
		}
		if got := *find[*agent.Timer](k, timerAt("t")); got.Parked || got.LastError != "no such manager" || got.Attempts != 0 {
			k.Fatalf("it is %+v", got)
		}
	}},

	{"a_timer_is_of_an_instance_that_there_can_be", func(k *kit) {
		long := alarm("t")
		long.Timer.Manager = strings.Repeat("x", agent.ManagerNameBytesMax+1)
		k.refuseInvalid(agent.CodeTooLarge, 0, "manager", long)
		long = alarm("t")
		long.Timer.Key = strings.Repeat("x", agent.IDBytesMax)
		k.refuseInvalid(agent.CodeTooLarge, 0, "key", long)
	}},

	{"timers_are_listed_page_by_page", func(k *kit) {
		var want []string
		for _, key := range []string{"a", "b"} {
			for i := range 3 {
				put := alarm(fmt.Sprint(i))
				put.Timer.Key = key
				k.commit(put)
				want = append(want, fmt.Sprint(key, i))
			}
		}
		var got []string
		q := agent.ListTimers{Manager: "m", Page: agent.Page{Limit: 2}}
		for {
			list := find[*agent.TimerList](k, &q)
			for _, t := range list.Items {
				got = append(got, t.Key+t.ID)
			}
			if q.After = list.Next; q.After == "" {
				break
			}
		}
		k.equal("all", got, want)
		if list := find[*agent.TimerList](k, &agent.ListTimers{Manager: "m", Key: "b", Page: agent.Page{Prefix: "1"}}); len(list.Items) != 1 {
			k.Fatalf("of one instance: %+v", list.Items)
		}
		if list := find[*agent.TimerList](k, &agent.ListTimers{Manager: "n"}); len(list.Items) != 0 {
			k.Fatalf("another manager's: %+v", list.Items)
		}
	}},
}
