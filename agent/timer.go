package agent

import (
	"errors"
	"slices"

	"dormouse/internal/cron"
)

// Timer wakes an instance and sends it a signal, once or as a cron expression says. It
// is durable. The state machine only stores and compares instants and knows no time
// zones: the leader computes the next instant of a cron.
//
// At most one occurrence is pending. AckTimer acknowledges it in the commit of the
// turn that it caused, so an acknowledged occurrence was handled exactly once.
type Timer struct {
	Manager  string
	Key      string
	ID       string
	Cron     string // five fields, six (seconds first), seven (year last) or a macro; "" for a timer that fires once
	TimeZone string // of Cron, an IANA name; "" means UTC
	Missed   Missed
	CatchUp  uint64 // MissedCatchUp: maximum number of occurrences to fire; 0 means TimerCatchUpDefault
	Type     string // of the signal; "" means SignalTimer
	Data     JSON   // of the signal: an object

	Generation           uint64 // identifies the last PutTimer; never reused
	Next                 int64  // Unix ms: the pending occurrence; 0 if a cron's has not been computed yet
	NotBefore            int64  // Unix ms: after a failed attempt, the time of the next attempt
	Attempts             uint64 // failed attempts at the pending occurrence
	Parked               bool   // attempts are used up: it does not fire until it is put again
	LastError            string // of the last failed attempt
	CreatedAt, UpdatedAt int64  // Unix ms: when the timer was first put, and when it was last put
}

// Missed is what happens to occurrences that did not fire in time. Those are
// occurrences that were due TimerGrace ago or more, or while an earlier one was being
// handled.
type Missed string

// The policies for missed occurrences.
const (
	MissedSkip     Missed = "skip"      // they are skipped; the default of cron
	MissedFireOnce Missed = "fire_once" // one signal for all of them; the default of an instant
	MissedCatchUp  Missed = "catch_up"  // each of the last CatchUp occurrences fires, oldest first
)

// SignalTimer is the type of timers' signals, if the timer names none.
const SignalTimer = "timer"

// PutTimer creates or replaces a timer. A timer that fires once has its instant in
// Next, which may be in the past; a cron's Next is 0.
type PutTimer struct {
	Timer Timer // Generation, NotBefore, Attempts, Parked, LastError and times are set by the store
}

// DeleteTimer cancels a timer; a missing timer is not an error.
type DeleteTimer struct{ Manager, Key, ID string }

// AckTimer ends the pending occurrence (Generation, Instant) of a timer and sets the
// next one; Next 0 ends the timer. If another occurrence or none is pending, the whole
// commit fails with conflict.
type AckTimer struct {
	Manager, Key, ID string
	Generation       uint64
	Instant          int64 // Unix ms; 0 if it had not been computed yet
	Next             int64 // Unix ms, later than Instant; 0 for none
}

// FailTimer records a failed attempt at the pending occurrence, and the time of the
// next attempt. The TimerAttemptsMax-th failure parks the timer. An attempt with Waits
// is not counted. If another occurrence is pending, it fails like AckTimer.
type FailTimer struct {
	Manager, Key, ID string
	Generation       uint64
	Instant          int64
	NotBefore        int64 // Unix ms
	Error            string
	Waits            bool // the manager does not exist: the timer fires once it is put
}

// TimerResult is the result of PutTimer, AckTimer and FailTimer: the timer after the
// op, without its Data. If the timer has ended, it has no id.
type TimerResult struct{ Timer Timer }

func (*TimerResult) isOpResult() {}

// GetTimer reads a timer.
type GetTimer struct{ Manager, Key, ID string }

// ListTimers lists an instance's timers in id order, or those of all of a manager's
// instances in key order. After is the Next of the previous page.
type ListTimers struct {
	Manager string
	Key     string // "" for all instances of the manager; Prefix is then of keys, otherwise of ids
	Page
}

func (*GetTimer) isRead()   {}
func (*ListTimers) isRead() {}

// TimerList is the result of ListTimers.
type TimerList struct {
	Items []Timer
	Next  string // pass as After; "" at the end
}

// DueTimer is a timer that must fire or whose next instant must be computed, and its
// scope.
type DueTimer struct {
	Scope string
	Timer
}

func (*Timer) isFound()     {}
func (*TimerList) isFound() {}

func (o *PutTimer) validateOp(t *tally) error {
	return t.putTimer(&o.Timer)
}

func (o *DeleteTimer) validateOp(t *tally) error {
	return t.timerName(o.Manager, o.Key, o.ID)
}

// timerName validates the name of a timer.
func (t *tally) timerName(manager, key, id string) error {
	t.bytes += len(manager) + len(key) + len(id)
	return validTimerName(manager, key, id)
}

func validTimerName(manager, key, id string) error {
	return firstOf(ValidID("manager", manager), ValidID("key", key), ValidID("timer", id))
}

// putTimer validates a timer and fills in its defaults. It clears the fields that the
// store sets.
func (t *tally) putTimer(o *Timer) error {
	ref := InstanceRef{Manager: o.Manager, Key: o.Key} // checks that such an instance can exist
	if err := firstOf(
		t.timerName(o.Manager, o.Key, o.ID),
		ref.Validate(),
		validText("type", "kind_bytes_max", o.Type, KindBytesMax),
		normalize("data", &o.Data),
		o.validPlan(),
		o.normalizeMissed(),
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

// validPlan returns an error unless the timer has either an instant or a cron.
func (t *Timer) validPlan() error {
	switch {
	case t.Cron == "" && t.Next == 0:
		return Invalid("cron", "a timer needs cron or at: give one of them")
	case t.Cron == "" && t.TimeZone != "":
		return Invalid("time_zone", "time_zone needs cron: an instant has no time zone")
	case t.Cron == "":
		return validInstant("at", t.Next)
	case t.Next != 0:
		return Invalid("at", "at and cron exclude each other: give one of them")
	}
	if _, err := cron.Parse(t.Cron, t.TimeZone); err != nil {
		return planError(err)
	}
	return nil
}

// planError converts an error of the cron parser to one that names the field.
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

// MissedPolicies are all policies.
var MissedPolicies = []Missed{MissedSkip, MissedFireOnce, MissedCatchUp}

func (t *Timer) normalizeMissed() error {
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
		return Invalid("catch_up", "catch_up needs missed = catch_up")
	case t.CatchUp == 0 && t.Missed == MissedCatchUp:
		t.CatchUp = TimerCatchUpDefault
	}
	return nil
}

func (o *AckTimer) validateOp(t *tally) error {
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

func (o *FailTimer) validateOp(t *tally) error {
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
		return Invalid("generation", "generation must be the generation of the timer that was read; it is never 0")
	}
	if instant == 0 {
		return nil
	}
	return validInstant("instant", instant)
}

// validTimerRead validates a read of timers.
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
		page.After = "" // a position in hex, not a key
		return firstOf(ValidID("manager", r.Manager), validPage(page), validText("after", "timer_after_bytes_max", r.After, timerAfterBytesMax))
	default:
		return Invalid("read", "the read is missing: give one")
	}
}

// timerAfterBytesMax bounds the position of a timer in hex.
const timerAfterBytesMax = 2 * (2*IDBytesMax + 2)
