package agent

// Timer wakes an instance and sends it a signal: once, or as a cron expression
// says. It is durable. Whoever writes a timer reckons its next instant; the
// state machine compares and keeps, and knows no time zones.
//
// At most one occurrence is pending. It is acknowledged by AckTimer in the
// commit of the turn that it caused, so an acknowledged occurrence has been
// handled exactly once.
type Timer struct {
	Manager  string
	Key      string
	ID       string
	Cron     string // five or six fields, or a macro; "" for one that fires once
	TimeZone string // of Cron, by its IANA name; "" means UTC
	Missed   Missed
	CatchUp  int    // MissedCatchUp: at most so many; 0 means TimerCatchUpDefault
	Type     string // of the signal; "" means SignalTimer
	Data     JSON

	Generation           uint64 // of the timer as it was last put; never used again
	Next                 int64  // Unix ms: the pending occurrence
	NotBefore            int64  // Unix ms: after a failed attempt, when the next one may be made
	Attempts             int    // that failed, of the pending occurrence
	Parked               bool   // attempts are used up: it fires no more until it is put anew
	LastError            string
	CreatedAt, UpdatedAt int64
}

// Missed says what becomes of occurrences that nobody could fire in time.
type Missed string

// The policies for missed occurrences.
const (
	MissedSkip     Missed = "skip"      // they are passed over; the default of cron
	MissedFireOnce Missed = "fire_once" // one signal stands for all; the default of an instant
	MissedCatchUp  Missed = "catch_up"  // each is fired, the oldest first, at most CatchUp of them
)

// SignalTimer is the type of the signals that timers send, where none is named.
const SignalTimer = "timer"

// PutTimer sets a timer, in place of the one under that id. At is its next
// instant.
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
	Instant          int64 // Unix ms
	Next             int64 // Unix ms, later than Instant; 0 where there is none
}

// FailTimer records an attempt at the pending occurrence that failed, and when
// the next may be made; past TimerAttemptsMax the timer is parked.
type FailTimer struct {
	Manager, Key, ID string
	Generation       uint64
	Instant          int64
	NotBefore        int64 // Unix ms
	Error            string
}

func (*PutTimer) isOp()    {}
func (*DeleteTimer) isOp() {}
func (*AckTimer) isOp()    {}
func (*FailTimer) isOp()   {}

// TimerResult answers PutTimer, AckTimer and FailTimer: the timer as it stands
// after the op; a Timer without an id where it has ended.
type TimerResult struct{ Timer Timer }

func (*TimerResult) isOpResult() {}
