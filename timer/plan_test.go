package timer_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/timer"
)

// day is a midnight in UTC, in Unix ms.
const day = 1_767_225_600_000

func ms(d time.Duration) int64 { return d.Milliseconds() }

func hourly(missed agent.Missed, catchUp uint64) agent.Timer {
	return agent.Timer{Manager: "m", Key: "k", ID: "t", Generation: 7, Cron: "@hourly", Missed: missed, CatchUp: catchUp, Next: day, UpdatedAt: day - 1}
}

func TestPlanOfADueTimer(t *testing.T) {
	const h = int64(time.Hour / time.Millisecond)
	once := agent.Timer{Manager: "m", Key: "k", ID: "t", Generation: 7, Missed: agent.MissedFireOnce, Next: day}
	skipped := once
	skipped.Missed = agent.MissedSkip
	unreckoned := hourly(agent.MissedSkip, 0)
	unreckoned.Next = 0
	retried := hourly(agent.MissedSkip, 0)
	retried.Attempts = 1
	ended := hourly(agent.MissedSkip, 0)
	ended.Cron = "0 0 0 1 1 * 2026"
	for _, c := range []struct {
		name string
		t    agent.Timer
		wall int64
		fire bool
		next int64
	}{
		{"an instant in time", once, day, true, 0},
		{"an instant that was missed", once, day + 99*h, true, 0},
		{"an instant that was missed, to be skipped", skipped, day + 99*h, false, 0},
		{"an instant to be skipped, within the grace", skipped, day + ms(agent.TimerGrace) - 1, true, 0},
		{"an instant to be skipped, at the end of the grace", skipped, day + ms(agent.TimerGrace), false, 0},
		{"a cron to be reckoned", unreckoned, day, false, day},
		{"a cron in time", hourly(agent.MissedSkip, 0), day + 5, true, day + h},
		{"the last there is", ended, day + 5, true, 0},
		{"C-11 a cron that was missed is passed over", hourly(agent.MissedSkip, 0), day + 5*h + ms(30*time.Minute), false, day + 6*h},
		{"C-11 the newest of those missed is within the grace", hourly(agent.MissedSkip, 0), day + 5*h + ms(30*time.Second), false, day + 5*h},
		{"one that was tried in time is not missed", retried, day + ms(30*time.Minute), true, day + h},
		{"one stands for all", hourly(agent.MissedFireOnce, 0), day + 5*h + 5, true, day + 6*h},
		{"each is caught up with", hourly(agent.MissedCatchUp, 16), day + 5*h + 5, true, day + h},
		{"as many as are caught up with", hourly(agent.MissedCatchUp, 6), day + 5*h + 5, true, day + h},
		{"more than are caught up with", hourly(agent.MissedCatchUp, 5), day + 5*h + 5, false, day + h},
		{"far more than are caught up with", hourly(agent.MissedCatchUp, 3), day + 24*365*h, false, day + 24*365*h - 2*h},
		{"nothing to catch up with", hourly(agent.MissedCatchUp, 3), day, true, day + h},
	} {
		t.Run(c.name, func(t *testing.T) {
			step, err := timer.Plan(&c.t, c.wall)
			if err != nil {
				t.Fatal(err)
			}
			want := timer.Action{Fire: c.fire, Ack: agent.AckTimer{Manager: "m", Key: "k", ID: "t", Generation: 7, Instant: c.t.Next, Next: c.next}}
			if step != want {
				t.Errorf("got %+v, want %+v", step, want)
			}
		})
	}
	if _, err := timer.Plan(&agent.Timer{Cron: "no cron"}, day); err == nil {
		t.Error("a cron that cannot be read has a plan")
	}
}

// For any sequence of plans, instants only grow. Catching up fires the last
// CatchUp occurrences and no others. Skipping fires none that is older than the
// grace period.
func TestSequencesOfPlans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := hourly(rapid.SampledFrom(agent.MissedPolicies).Draw(t, "missed"), 0)
		if v.Missed == agent.MissedCatchUp {
			v.CatchUp = rapid.Uint64Range(1, 5).Draw(t, "catch up")
		}
		v.Cron, v.Next = rapid.SampledFrom([]string{"* * * * *", "*/7 3-5 * * *", "*/10 * * * * *"}).Draw(t, "cron"), 0
		wall := int64(day)
		for range 20 {
			wall += rapid.SampledFrom([]int64{0, 1000, 30_000, 61_000, 10_000_000}).Draw(t, "pass")
			fired := uint64(0)
			for v.Next <= wall {
				step, err := timer.Plan(&v, wall)
				if err != nil {
					t.Fatal(err)
				}
				if step.Ack.Next <= v.Next {
					t.Fatalf("after %d comes %d", v.Next, step.Ack.Next)
				}
				if step.Fire {
					if fired++; v.Missed == agent.MissedSkip && v.Next <= wall-ms(agent.TimerGrace) {
						t.Fatalf("%d is fired at %d", v.Next, wall)
					}
				}
				v.Next = step.Ack.Next
			}
			if most := max(v.CatchUp, 1); fired > most {
				t.Fatalf("%d are fired at once, at most %d should be", fired, most)
			}
		}
	})
}

func TestEachAttemptHasItsOwnRequestID(t *testing.T) {
	v := hourly(agent.MissedSkip, 0)
	first := timer.Request("s", &v)
	if again := timer.Request("s", &v); again != first {
		t.Error("the same attempt makes another request")
	}
	later, retried, anew, other := v, v, v, v
	later.Next++
	retried.Attempts++
	anew.Generation++
	other.Key = "k2"
	if r := timer.Request("s", &later); r.Client != first.Client || r.Seq <= first.Seq+agent.TimerAttemptsMax {
		t.Errorf("the next occurrence is %+v after %+v", r, first)
	}
	if r := timer.Request("s", &retried); r.Client != first.Client || r.Seq != first.Seq+1 {
		t.Errorf("the next attempt is %+v after %+v", r, first)
	}
	for _, r := range []agent.Request{timer.Request("s", &anew), timer.Request("s", &other), timer.Request("s2", &v)} {
		if r.Client == first.Client {
			t.Errorf("another timer's request is %+v", r)
		}
	}
	long := agent.Timer{Manager: strings.Repeat("m", 512), Key: strings.Repeat("k", 512), ID: strings.Repeat("t", 512), Generation: 1<<64 - 1, Next: 253_402_300_799_000}
	commit := agent.Commit{Request: timer.Request(strings.Repeat("s", 512), &long), Ops: []agent.Op{&agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}}}
	if err := commit.Validate(); err != nil {
		t.Errorf("the longest there may be: %v", err)
	}
}
