package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// TimerBody is when a timer fires, and what it says.
type TimerBody struct {
	Cron     string          `json:"cron,omitempty" doc:"Five fields, six (seconds first), seven (and the year last), or a macro such as @daily; this or at"`
	At       int64           `json:"at,omitempty" doc:"When it fires, once, Unix ms; one that has passed fires at once"`
	TimeZone strictjson.Text `json:"time_zone,omitempty" doc:"Of cron, by its IANA name; UTC where absent"`
	Missed   string          `json:"missed,omitempty" enum:"skip,fire_once,catch_up" doc:"What becomes of occurrences that nobody could fire in time: skip where absent, fire_once of an at"`
	CatchUp  uint64          `json:"catch_up,omitempty" doc:"Of catch_up: the last so many are fired; 16 where absent"`
	Type     string          `json:"type,omitempty" doc:"Of the signal; timer where absent"`
	Data     JSON            `json:"data,omitempty" doc:"Of the signal"`
}

// ToAgent returns the timer under an id of an instance.
func (b *TimerBody) ToAgent(manager, key, id string) agent.Timer {
	return agent.Timer{
		Manager: manager, Key: key, ID: id, Cron: b.Cron, Next: b.At, TimeZone: string(b.TimeZone), Missed: agent.Missed(b.Missed), CatchUp: b.CatchUp,
		Type: b.Type, Data: agent.JSON(b.Data),
	}
}

// Timer is a timer as it stands.
type Timer struct {
	Manager    string `json:"manager"`
	Key        string `json:"key"`
	ID         string `json:"id"`
	Cron       string `json:"cron,omitzero"`
	TimeZone   string `json:"time_zone,omitzero"`
	Missed     string `json:"missed"`
	CatchUp    uint64 `json:"catch_up,omitzero"`
	Type       string `json:"type"`
	Data       JSON   `json:"data,omitzero"`
	Generation uint64 `json:"generation" doc:"Of the timer as it was last put; it only grows"`
	Next       int64  `json:"next,omitzero" doc:"The pending occurrence; left out until a cron's first one has been reckoned, just after it was put"`
	NotBefore  int64  `json:"not_before,omitzero" doc:"When the next attempt may be made, after one that failed"`
	Attempts   uint64 `json:"attempts,omitzero" doc:"Attempts at the pending occurrence that failed"`
	Parked     bool   `json:"parked,omitzero" doc:"Its attempts are used up: it fires no more until it is put anew"`
	LastError  string `json:"last_error,omitzero"`
	CreatedAt  int64  `json:"created_at"`
	UpdatedAt  int64  `json:"updated_at" doc:"When it was last put"`
}

// TimerOf returns the document of t.
func TimerOf(t agent.Timer) Timer {
	return Timer{
		Manager: t.Manager, Key: t.Key, ID: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, Missed: string(t.Missed), CatchUp: t.CatchUp, Type: t.Type,
		Data: JSON(t.Data), Generation: t.Generation, Next: t.Next, NotBefore: t.NotBefore, Attempts: t.Attempts, Parked: t.Parked,
		LastError: t.LastError, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

// The ops and reads of several at once.
type (
	timerName struct {
		Manager string `json:"manager"`
		Key     string `json:"key"`
		Timer   string `json:"timer"`
	}
	putTimerOp struct {
		opName
		timerName
		TimerBody
	}
	deleteTimerOp struct {
		opName
		timerName
	}
	ackTimerOp struct {
		opName
		timerName
		Generation uint64 `json:"generation"`
		Instant    int64  `json:"instant" doc:"The pending occurrence"`
		Next       int64  `json:"next,omitempty" doc:"The next one; the timer ends where absent"`
	}
	getTimerRead struct {
		readName
		timerName
	}
	listTimersRead struct {
		pageRead
		Manager string `json:"manager"`
		Key     string `json:"key,omitempty" doc:"Those of all instances where absent"`
	}
)

func (o *putTimerOp) op() (agent.Op, error) {
	return &agent.PutTimer{Timer: o.ToAgent(o.Manager, o.Key, o.Timer)}, nil
}

func (o *deleteTimerOp) op() (agent.Op, error) {
	return &agent.DeleteTimer{Manager: o.Manager, Key: o.Key, ID: o.Timer}, nil
}

func (o *ackTimerOp) op() (agent.Op, error) {
	return &agent.AckTimer{Manager: o.Manager, Key: o.Key, ID: o.Timer, Generation: o.Generation, Instant: o.Instant, Next: o.Next}, nil
}

func (r *getTimerRead) read() agent.Read {
	return &agent.GetTimer{Manager: r.Manager, Key: r.Key, ID: r.Timer}
}

func (r *listTimersRead) read() agent.Read {
	return &agent.ListTimers{Manager: r.Manager, Key: r.Key, Page: r.page()}
}
