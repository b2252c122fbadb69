package agent

import (
	"errors"
	"slices"

	"dormouse/internal/cron"
)

// timerOp judges an op on a timer.
func (t *tally) timerOp(op Op) error {
	switch o := op.(type) {
	case *PutTimer:
		return t.putTimer(&o.Timer)
	case *DeleteTimer:
		return t.timerName(o.Manager, o.Key, o.ID)
	case *AckTimer:
		return t.ackTimer(o)
	case *FailTimer:
		return t.failTimer(o)
	default:
		return Invalid("op", "there is no op here: name one")
	}
}

// timerName judges whose timer it is, and which.
func (t *tally) timerName(manager, key, id string) error {
	t.bytes += len(manager) + len(key) + len(id)
	return validTimerName(manager, key, id)
}

func validTimerName(manager, key, id string) error {
	return firstOf(ValidID("manager", manager), ValidID("key", key), ValidID("timer", id))
}

// putTimer judges a plan, and fills in what it leaves to its defaults. What is
// the store's to say is cleared.
func (t *tally) putTimer(o *Timer) error {
	ref := InstanceRef{Manager: o.Manager, Key: o.Key} // one that there can be
	if err := firstOf(
		t.timerName(o.Manager, o.Key, o.ID),
		ref.Validate(),
		validText("type", "kind_bytes_max", o.Type, KindBytesMax),
		settle("data", &o.Data),
		o.validPlan(),
		o.settleMissed(),
	); err != nil {
		return err
	}
	if len(o.Data) > TimerDataBytesMax {
		return TooLarge("data", "timer_data_bytes_max", len(o.Data), TimerDataBytesMax)
	}
	if o.Data == nil {
		o.Data = emptyObject
	}
	if o.Type == "" {
		o.Type = SignalTimer
	}
	t.bytes += len(o.Cron) + len(o.TimeZone) + len(o.Type) + len(o.Data)
	if o.Generation != 0 || o.NotBefore != 0 || o.Attempts != 0 || o.Parked || o.LastError != "" || o.CreatedAt != 0 || o.UpdatedAt != 0 {
		o.Generation, o.NotBefore, o.Attempts, o.Parked, o.LastError, o.CreatedAt, o.UpdatedAt = 0, 0, 0, false, "", 0, 0
	}
	return nil
}

// validPlan holds a timer to an instant or a cron.
func (t *Timer) validPlan() error {
	switch {
	case t.Cron == "" && t.Next == 0:
		return Invalid("cron", "a timer needs cron or at: give one of them")
	case t.Cron == "" && t.TimeZone != "":
		return Invalid("time_zone", "time_zone goes with cron only: an instant has none")
	case t.Cron == "":
		return validInstant("at", t.Next)
	case t.Next != 0:
		return Invalid("at", "at does not go with cron: give one or the other")
	}
	if _, err := cron.Parse(t.Cron, t.TimeZone); err != nil {
		return planError(err)
	}
	return nil
}

// planError names the field of the plan that is wrong.
func planError(err error) error {
	var wrong *cron.Error
	if errors.As(err, &wrong) {
		return Invalid(wrong.Field, "%s: %s", wrong.Field, wrong.Detail)
	}
	return err
}

func validInstant(field string, at int64) error {
	if at <= 0 || at > latestTime {
		return Invalid(field, "%s = %d must be in Unix milliseconds, after 1970 and up to the year 9999", field, at)
	}
	return nil
}

// MissedPolicies are all of them.
var MissedPolicies = []Missed{MissedSkip, MissedFireOnce, MissedCatchUp}

func (t *Timer) settleMissed() error {
	if t.Missed == "" {
		t.Missed = MissedSkip
		if t.Cron == "" {
			t.Missed = MissedFireOnce
		}
	}
	switch {
	case !slices.Contains(MissedPolicies, t.Missed):
		return Invalid("missed", "missed = %q must be skip, fire_once or catch_up", t.Missed)
	case t.CatchUp > TimerCatchUpMax:
		return Invalid("catch_up", "catch_up = %d must be at most %d", t.CatchUp, TimerCatchUpMax)
	case t.CatchUp != 0 && t.Missed != MissedCatchUp:
		return Invalid("catch_up", "catch_up goes with missed = catch_up only")
	case t.CatchUp == 0 && t.Missed == MissedCatchUp:
		t.CatchUp = TimerCatchUpDefault
	}
	return nil
}

func (t *tally) ackTimer(o *AckTimer) error {
	if err := firstOf(t.timerName(o.Manager, o.Key, o.ID), validOccurrence(o.Generation, o.Instant)); err != nil {
		return err
	}
	if o.Next == 0 {
		return nil
	}
	if o.Next <= o.Instant {
		return Invalid("next", "next = %d must be later than instant = %d, or 0 for none", o.Next, o.Instant)
	}
	return validInstant("next", o.Next)
}

func (t *tally) failTimer(o *FailTimer) error {
	t.bytes += len(o.Error)
	return firstOf(
		t.timerName(o.Manager, o.Key, o.ID),
		validOccurrence(o.Generation, o.Instant),
		validInstant("not_before", o.NotBefore),
		validText("error", "timer_error_bytes_max", o.Error, TimerErrorBytesMax),
	)
}

func validOccurrence(generation uint64, instant int64) error {
	if generation == 0 {
		return Invalid("generation", "generation must be that of the timer as it was read, which is never 0")
	}
	if instant == 0 {
		return nil
	}
	return validInstant("instant", instant)
}

// validTimerRead judges a read of timers.
func validTimerRead(read Read) error {
	switch r := read.(type) {
	case *GetTimer:
		return validTimerName(r.Manager, r.Key, r.ID)
	case *ListTimers:
		if r.Key != "" {
			if err := ValidID("key", r.Key); err != nil {
				return err
			}
		}
		page := r.Page
		page.After = "" // a place, in hex
		return firstOf(ValidID("manager", r.Manager), validPage(page), validText("after", "timer_after_bytes_max", r.After, timerAfterBytesMax))
	default:
		return Invalid("read", "there is no read here: name one")
	}
}

// timerAfterBytesMax bounds the place of a timer in hex.
const timerAfterBytesMax = 2 * (2*IDBytesMax + 2)
