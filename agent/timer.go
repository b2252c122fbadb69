package agent

import (
	"errors"
	"slices"

	"dormouse/internal/cron"
)

// Timer wakes an instance and sends it a signal: once, or as a cron expression
// says. It is durable. The state machine compares and keeps, and knows no time
// zones: the leader reckons a cron's next instant.
//
// At most one occurrence is pending. It is acknowledged by AckTimer in the
// commit of the turn that it caused, so an acknowledged occurrence has been
// handled exactly once.
type Timer struct {
	Manager  string
	Key      string
	ID       string
	Cron     string // five fields, six (seconds first), seven (and the year last) or a macro; "" for one that fires once
	TimeZone string // of Cron, by its IANA name; "" means UTC
	Missed   Missed
	CatchUp  uint64 // MissedCatchUp: at most so many; 0 means TimerCatchUpDefault
	Type     string // of the signal; "" means SignalTimer
	Data     JSON   // of the signal: an object

	Generation           uint64 // of the timer as it was last put; never used again
	Next                 int64  // Unix ms: the pending occurrence; 0 where a cron's has not been reckoned yet
	NotBefore            int64  // Unix ms: after a failed attempt, when the next one may be made
	Attempts             uint64 // that failed, of the pending occurrence
	Parked               bool   // attempts are used up: it fires no more until it is put anew
	LastError            string // of the last attempt that failed
	CreatedAt, UpdatedAt int64  // Unix ms: when there first was such a timer, and when it was last put
}

// Missed says what becomes of occurrences that nobody could fire in time: those
// that fell due TimerGrace ago or more, and those that fell due while one before
// them was being handled.
type Missed string

// The policies for missed occurrences.
const (
	MissedSkip     Missed = "skip"      // they are passed over; the default of cron
	MissedFireOnce Missed = "fire_once" // one signal stands for all; the default of an instant
	MissedCatchUp  Missed = "catch_up"  // each of the last CatchUp is fired, the oldest first
)

// SignalTimer is the type of the signals that timers send, where none is named.
const SignalTimer = "timer"

// PutTimer sets a timer, in place of the one under that id. One that fires once
// names its instant in Next, which may have passed; a cron's Next is 0.
type PutTimer struct {
	Timer Timer // Generation, NotBefore, Attempts, Parked, LastError and times are the store's
}

// DeleteTimer cancels a timer; a missing one is fine.
type DeleteTimer struct{ Manager, Key, ID string }

// AckTimer ends the pending occurrence (Generation, Instant) of a timer, and sets
// the next one; Next 0 ends the timer. Another pending occurrence than that, or
// none, refuses the whole commit with conflict.
type AckTimer struct {
	Manager, Key, ID string
	Generation       uint64
	Instant          int64 // Unix ms; 0 where none had been reckoned yet
	Next             int64 // Unix ms, later than Instant; 0 where there is none
}

// FailTimer records an attempt at the pending occurrence that failed, and when
// the next may be made; with the TimerAttemptsMax-th the timer is parked. One
// that waits for its manager is not counted.
// Another pending occurrence than that is refused as AckTimer's is.
type FailTimer struct {
	Manager, Key, ID string
	Generation       uint64
	Instant          int64
	NotBefore        int64 // Unix ms
	Error            string
	Waits            bool // there is no such manager: the timer fires once somebody has put it
}

func (*PutTimer) isOp()    {}
func (*DeleteTimer) isOp() {}
func (*AckTimer) isOp()    {}
func (*FailTimer) isOp()   {}

// TimerResult answers PutTimer, AckTimer and FailTimer: the timer as it stands
// after the op, without its Data; a Timer without an id where it has ended.
type TimerResult struct{ Timer Timer }

func (*TimerResult) isOpResult() {}

// GetTimer reads a timer.
type GetTimer struct{ Manager, Key, ID string }

// ListTimers lists an instance's timers, in id order, or those of all of a
// manager's instances, in the order of their keys. After is the Next of the page
// before.
type ListTimers struct {
	Manager string
	Key     string // "" for all of the manager's; Prefix is of keys then, and of ids otherwise
	Page
}

func (*GetTimer) isRead()   {}
func (*ListTimers) isRead() {}

// TimerList answers ListTimers.
type TimerList struct {
	Items []Timer
	Next  string // pass as After; "" at the end
}

// DueTimer is a timer that is to be fired or reckoned, and its scope.
type DueTimer struct {
	Scope string
	Timer
}

func (*Timer) isFound()     {}
func (*TimerList) isFound() {}

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
