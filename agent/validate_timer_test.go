package agent_test

import (
	"errors"
	"testing"

	"dormouse/agent"
)

const someDay = 1_767_225_600_000 // 2026

func putTimer(change func(*agent.Timer)) agent.Commit {
	t := agent.Timer{Manager: "m", Key: "k", ID: "t", Cron: "@daily"}
	change(&t)
	return ops(&agent.PutTimer{Timer: t})
}

func TestTimersAreValidated(t *testing.T) {
	tooLarge := func(field string) refusal { return refusal{agent.CodeTooLarge, 0, field} }
	invalid := func(field string) refusal { return refusal{agent.CodeInvalid, 0, field} }
	ack := agent.AckTimer{Manager: "m", Key: "k", ID: "t", Generation: 1, Instant: someDay, Next: someDay + 1}
	fail := agent.FailTimer{Manager: "m", Key: "k", ID: "t", Generation: 1, Instant: someDay, NotBefore: someDay}
	acking := func(change func(*agent.AckTimer)) agent.Commit { o := ack; change(&o); return ops(&o) }
	failing := func(change func(*agent.FailTimer)) agent.Commit { o := fail; change(&o); return ops(&o) }
	for _, c := range []struct {
		name   string
		commit agent.Commit
		want   refusal
	}{
		{"a cron", putTimer(func(*agent.Timer) {}), refusal{}},
		{"a cron in a zone", putTimer(func(t *agent.Timer) { t.Cron, t.TimeZone = "*/5 * * * * *", "Europe/Paris" }), refusal{}},
		{"an instant", putTimer(func(t *agent.Timer) { t.Cron, t.Next = "", someDay }), refusal{}},
		{"an instant long ago", putTimer(func(t *agent.Timer) { t.Cron, t.Next = "", 1 }), refusal{}},
		{"no manager", putTimer(func(t *agent.Timer) { t.Manager = "" }), invalid("manager")},
		{"no key", putTimer(func(t *agent.Timer) { t.Key = "" }), invalid("key")},
		{"no id", putTimer(func(t *agent.Timer) { t.ID = "" }), invalid("timer")},
		{"neither cron nor instant", putTimer(func(t *agent.Timer) { t.Cron = "" }), invalid("cron")},
		{"both", putTimer(func(t *agent.Timer) { t.Next = someDay }), invalid("at")},
		{"an instant before 1970", putTimer(func(t *agent.Timer) { t.Cron, t.Next = "", -1 }), invalid("at")},
		{"an instant past 9999", putTimer(func(t *agent.Timer) { t.Cron, t.Next = "", 1<<62 }), invalid("at")},
		{"an instant in a zone", putTimer(func(t *agent.Timer) { t.Cron, t.Next, t.TimeZone = "", someDay, "UTC" }), invalid("time_zone")},
		{"bad cron", putTimer(func(t *agent.Timer) { t.Cron = "61 * * * *" }), invalid("cron")},
		{"C-9 bad zone", putTimer(func(t *agent.Timer) { t.TimeZone = "Europe/Nowhere" }), invalid("time_zone")},
		{"no such policy", putTimer(func(t *agent.Timer) { t.Missed = "often" }), invalid("missed")},
		{"catch up at the limit", putTimer(func(t *agent.Timer) { t.Missed, t.CatchUp = agent.MissedCatchUp, agent.TimerCatchUpMax }), refusal{}},
		{"catch up past it", putTimer(func(t *agent.Timer) { t.Missed, t.CatchUp = agent.MissedCatchUp, agent.TimerCatchUpMax+1 }), invalid("catch_up")},
		{"catch up with skip", putTimer(func(t *agent.Timer) { t.CatchUp = 1 }), invalid("catch_up")},
		{"data at the limit", putTimer(func(t *agent.Timer) { t.Data = object(agent.TimerDataBytesMax) }), refusal{}},
		{"data past it", putTimer(func(t *agent.Timer) { t.Data = object(agent.TimerDataBytesMax + 1) }), tooLarge("data")},
		{"data that is no object", putTimer(func(t *agent.Timer) { t.Data = agent.JSON(`[1]`) }), invalid("data")},
		{"type past the limit", putTimer(func(t *agent.Timer) { t.Type = text(agent.KindBytesMax + 1) }), tooLarge("type")},
		{"delete", ops(&agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}), refusal{}},
		{"delete nothing", ops(&agent.DeleteTimer{Manager: "m", Key: "k"}), invalid("timer")},
		{"ack", acking(func(*agent.AckTimer) {}), refusal{}},
		{"ack the last", acking(func(o *agent.AckTimer) { o.Next = 0 }), refusal{}},
		{"ack what was not reckoned yet", acking(func(o *agent.AckTimer) { o.Instant = 0 }), refusal{}},
		{"ack without a generation", acking(func(o *agent.AckTimer) { o.Generation = 0 }), invalid("generation")},
		{"ack that does not get on", acking(func(o *agent.AckTimer) { o.Next = o.Instant }), invalid("next")},
		{"ack past 9999", acking(func(o *agent.AckTimer) { o.Next = 1 << 62 }), invalid("next")},
		{"ack an instant before 1970", acking(func(o *agent.AckTimer) { o.Instant = -1 }), invalid("instant")},
		{"fail", failing(func(*agent.FailTimer) {}), refusal{}},
		{"fail without a time", failing(func(o *agent.FailTimer) { o.NotBefore = 0 }), invalid("not_before")},
		{"fail, error at the limit", failing(func(o *agent.FailTimer) { o.Error = text(agent.TimerErrorBytesMax) }), refusal{}},
		{"fail, error past it", failing(func(o *agent.FailTimer) { o.Error = text(agent.TimerErrorBytesMax + 1) }), tooLarge("error")},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.commit.Validate(), c.want) })
	}
}

func TestATimersDefaultsAreFilledIn(t *testing.T) {
	for _, c := range []struct {
		name string
		put  agent.Timer
		want agent.Timer
	}{
		{"cron", agent.Timer{Cron: "@daily"}, agent.Timer{Missed: agent.MissedSkip, Type: agent.SignalTimer}},
		{"instant", agent.Timer{Next: someDay}, agent.Timer{Missed: agent.MissedFireOnce, Type: agent.SignalTimer}},
		{"catch up", agent.Timer{Cron: "@daily", Missed: agent.MissedCatchUp}, agent.Timer{Missed: agent.MissedCatchUp, Type: agent.SignalTimer, CatchUp: agent.TimerCatchUpDefault}},
		{
			"what is the store's",
			agent.Timer{Cron: "@daily", Generation: 1, Parked: true, Attempts: 2, LastError: "x", NotBefore: 1, CreatedAt: 1, UpdatedAt: 1},
			agent.Timer{Missed: agent.MissedSkip, Type: agent.SignalTimer},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.put.Manager, c.put.Key, c.put.ID = "m", "k", "t"
			put := &agent.PutTimer{Timer: c.put}
			commit := ops(put)
			if err := commit.Validate(); err != nil {
				t.Fatal(err)
			}
			got := put.Timer
			if got.Missed != c.want.Missed || got.Type != c.want.Type || got.CatchUp != c.want.CatchUp || string(got.Data) != "{}" {
				t.Errorf("got %+v", got)
			}
			if got.Generation != 0 || got.Parked || got.Attempts != 0 || got.LastError != "" || got.NotBefore != 0 || got.CreatedAt != 0 || got.UpdatedAt != 0 {
				t.Errorf("what is the store's to say was let through: %+v", got)
			}
		})
	}
}

func TestReadsOfTimersAreJudged(t *testing.T) {
	for _, c := range []struct {
		name string
		read agent.Read
		want refusal
	}{
		{"get", &agent.GetTimer{Manager: "m", Key: "k", ID: "t"}, refusal{}},
		{"get nothing", &agent.GetTimer{Manager: "m", Key: "k"}, refusal{agent.CodeInvalid, 0, "timer"}},
		{"list an instance's", &agent.ListTimers{Manager: "m", Key: "k"}, refusal{}},
		{"list a manager's", &agent.ListTimers{Manager: "m"}, refusal{}},
		{"list without a manager", &agent.ListTimers{}, refusal{agent.CodeInvalid, 0, "manager"}},
		{"list with a key past the limit", &agent.ListTimers{Manager: "m", Key: text(513)}, refusal{agent.CodeTooLarge, 0, "key"}},
		{"list past the limit", &agent.ListTimers{Manager: "m", Page: agent.Page{Limit: agent.ListLimitMax + 1}}, refusal{agent.CodeInvalid, 0, "limit"}},
		{"list after as long a place as there may be", &agent.ListTimers{Manager: "m", Page: agent.Page{After: text(2*2*512 + 4)}}, refusal{}},
		{"list after a longer one", &agent.ListTimers{Manager: "m", Page: agent.Page{After: text(2*2*512 + 5)}}, refusal{agent.CodeTooLarge, 0, "after"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			reads := agent.Reads{Reads: []agent.Read{c.read}}
			check(t, reads.Validate(), c.want)
		})
	}
}

func TestADocumentTakesItsOwnSignals(t *testing.T) {
	document := agent.Handler{Kind: agent.HandlerDocument}
	for _, kind := range []string{agent.SignalAppend, agent.SignalPatch, agent.SignalTurn, agent.SignalGet, agent.SignalTimer, agent.SignalCron} {
		if err := document.Takes(kind); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
	for _, kind := range []string{"", "tick", "Patch"} {
		if err := document.Takes(kind); agent.CodeOf(err) != agent.CodeInvalid {
			t.Errorf("%q: %v", kind, err)
		}
		if err := (agent.Handler{Kind: agent.HandlerGo, Name: "g"}).Takes(kind); err != nil {
			t.Errorf("a Go handler, %q: %v", kind, err)
		}
	}
	job := agent.JSON(`{"j":{"cron_expression":"@daily","message":{"type":"tick"}}}`)
	put := &agent.PutManager{Manager: agent.Manager{Name: "m", Handler: document, Schedules: job}}
	c := agent.Commit{Ops: []agent.Op{put}}
	var e *agent.Error
	if err := c.Validate(); !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Field != "manager.schedules" {
		t.Errorf("a manager of documents: %v", err)
	}
	put.Manager.Handler = agent.Handler{Kind: agent.HandlerGo, Name: "g"}
	if err := c.Validate(); err != nil {
		t.Errorf("a manager of Go handlers: %v", err)
	}
}
