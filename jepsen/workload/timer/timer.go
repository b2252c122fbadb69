// Package timer drives timers of live instances. It checks that each occurrence has
// its turn exactly once.
package timer

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// timer sets timers of live instances, which fire once or every second, and cancels
// some. A third of the sets replaces a timer of the same process. A
// firing leaves an entry with the name of the set in the instance's thread, in the commit
// that acknowledges the occurrence. So at each index thread and timers together show how
// often each set has fired.
type timer struct {
	keys    *workload.Keys
	names   atomic.Int64 // number of timers so far; numbers them
	managed workload.Managed

	mu  sync.Mutex
	set map[string][]string // :: key → ids of timers, oldest first; guarded by mu
	own map[owned]string    // the timer that a process may replace; guarded by mu
}

// owned is an instance whose timers a process has set.
type owned struct {
	process int
	key     string
}

const (
	alarmPrefix   = "alarm"
	alarmWidth    = 4
	alarmCallsMax = 150
	alarmManager  = "alarms"
	alarmAhead    = 2500 * time.Millisecond // maximum delay of a timer that fires once
	alarmsNewest  = 10                      // only the newest timers of a key are cancelled
	everySecond   = "* * * * * *"
)

// New returns workload timer.
func New() workload.Workload {
	return &timer{
		keys: workload.NewSharedKeys(alarmPrefix, alarmWidth, alarmCallsMax), set: map[string][]string{}, own: map[owned]string{},
		managed: workload.Managed{Manager: agent.Manager{
			Name: alarmManager, Handler: agent.Handler{Kind: agent.HandlerDocument}, IdleTimeout: workload.CounterIdle,
		}},
	}
}

func (*timer) Name() string { return "timer" }

func (*timer) About() string {
	return "timers of live instances, set, fired and cancelled while owners and leaders change: each occurrence has its turn exactly once, and none is lost"
}

// The calls. A callFinal is the last read of a key, after all timers that fire once
// have fired or Final has given up.
const (
	callSet    = "set"
	callCancel = "cancel"
	callFinal  = "final"
)

// timerCall is the input of the setting or the cancellation of a timer. The name of a set
// is unique.
type timerCall struct {
	Name  string `json:"name,omitempty"`  // of a cancellation: the timer's id
	Again string `json:"again,omitempty"` // the id of the timer that it replaces; "" means a new timer, with the id Name
	At    int64  `json:"at,omitempty"`    // Unix ms; of a timer that fires once
	Every bool   `json:"every,omitempty"` // fires every second; otherwise once
}

// timersSeen is an instance's timers that a call left or found.
type timersSeen struct {
	Existed bool         `json:"existed,omitempty"` // of a cancel: the timer was pending
	Untold  bool         `json:"untold,omitempty"`  // of a cancel: the answer does not say whether it was
	Pending []timerSeen  `json:"pending,omitempty"`
	Fired   []timerFired `json:"fired,omitempty"` // the thread's entries
}

// id returns the id of the timer.
func (c timerCall) id() string {
	if c.Again != "" {
		return c.Again
	}
	return c.Name
}

// timerSeen is a timer with its next occurrence and the time when it was set, in Unix
// ms.
type timerSeen struct {
	Name  string `json:"name"` // its id
	Every bool   `json:"every,omitempty"`
	Next  int64  `json:"next"` // 0 if not computed yet
	Set   int64  `json:"set"`
}

// timerFired is the entry of an occurrence: the name of its set, and the log's time.
type timerFired struct {
	Name string `json:"name"`
	At   int64  `json:"at"`
}

func (w *timer) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		if !w.managed.Set(ctx, p) {
			continue
		}
		switch draw := p.Rand.IntN(20); {
		case draw < 8:
			in := timerCall{At: time.Now().Add(time.Duration(p.Rand.Int64N(int64(alarmAhead)))).UnixMilli()}
			if p.Rand.IntN(2) == 0 {
				in.Again = w.mine(p, key)
			}
			w.put(ctx, p, key, in)
		case draw == 8:
			w.put(ctx, p, key, timerCall{Every: true})
		case draw < 13:
			if name := w.some(p, key); name != "" {
				_, _ = w.cancel(ctx, p, key, name)
			}
		default:
			_, _ = w.read(ctx, p, workload.CallRead, key)
		}
	}
}

// mine returns the timer that the process set last and may replace, or "".
func (w *timer) mine(p *workload.Process, key string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.own[owned{p.ID, key}]
}

// keep records that a set with an answer may be followed by another one of the same timer.
// One whose outcome is unknown may apply later, so no other follows it.
func (w *timer) keep(p *workload.Process, key string, in timerCall, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if delete(w.own, owned{p.ID, key}); err == nil && !in.Every {
		w.own[owned{p.ID, key}] = in.id()
	}
}

// some returns one of the newest timers of a key, or "" if there is none.
func (w *timer) some(p *workload.Process, key string) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := w.set[key]
	if len(names) == 0 {
		return ""
	}
	return names[len(names)-1-p.Rand.IntN(min(len(names), alarmsNewest))]
}

const alarmTries = 100 // tries of a final read, each followed by workload.FinalRest: longer than the backoff of an occurrence

// Final cancels recurring timers, waits until the others have fired, and reads the
// rest.
func (w *timer) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		for try := 1; ; try++ {
			seen, err := w.read(ctx, p, workload.CallRead, key)
			if err != nil {
				return err
			}
			if len(seen.Pending) == 0 || try == alarmTries || ctx.Err() != nil {
				_, err = w.read(ctx, p, callFinal, key)
				return err
			}
			for _, t := range seen.Pending {
				if t.Every {
					_, _ = w.cancel(ctx, p, key, t.Name)
				}
			}
			workload.Hang(ctx, workload.FinalRest)
		}
	})
}
