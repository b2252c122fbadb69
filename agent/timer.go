package agent

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
