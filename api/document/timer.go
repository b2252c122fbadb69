package document

import (
	"dormouse/agent"
	"dormouse/internal/strictjson"
)

var timerOps = map[string]func() wireOp{
	"put_timer":    func() wireOp { return new(putTimerOp) },
	"delete_timer": func() wireOp { return new(deleteTimerOp) },
	"ack_timer":    func() wireOp { return new(ackTimerOp) },
}

// TimerBody is a timer in a request.
type TimerBody struct {
	Cron     string          `json:"cron,omitempty" doc:"Five fields, six (seconds first), seven (year last), or a macro such as @daily; either cron or at"`
	At       int64           `json:"at,omitempty" doc:"When it fires, once, Unix ms; an instant in the past fires at once"`
	TimeZone strictjson.Text `json:"time_zone,omitempty" doc:"Of cron, an IANA name; UTC if absent"`
	Missed   string          `json:"missed,omitempty" enum:"skip,fire_once,catch_up" doc:"What happens to occurrences that did not fire in time: skip if absent, fire_once for at"`
	CatchUp  uint64          `json:"catch_up,omitempty" doc:"Of catch_up: number of last occurrences to fire; 16 if absent"`
	Type     string          `json:"type,omitempty" doc:"Of the signal; timer if absent"`
	Data     JSON            `json:"data,omitempty" doc:"Of the signal"`
}

// ToAgent returns the timer with an id, of an instance.
func (b *TimerBody) ToAgent(manager, key, id string) agent.Timer {
	return agent.Timer{
		Manager: manager, Key: key, ID: id, Cron: b.Cron, Next: b.At, TimeZone: string(b.TimeZone), Missed: agent.Missed(b.Missed), CatchUp: b.CatchUp,
		Type: b.Type, Data: agent.JSON(b.Data),
	}
}

// Timer is a stored timer.
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
	Generation uint64 `json:"generation" doc:"Of the last put; it only grows"`
	Next       int64  `json:"next,omitzero" doc:"The pending occurrence; absent until the first one of a cron has been computed, just after the put"`
	NotBefore  int64  `json:"not_before,omitzero" doc:"After a failed attempt: the time of the next attempt"`
	Attempts   uint64 `json:"attempts,omitzero" doc:"Failed attempts at the pending occurrence"`
	Parked     bool   `json:"parked,omitzero" doc:"Its attempts are used up: it does not fire until it is put again"`
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

// The ops and reads.
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
		Next       int64  `json:"next,omitempty" doc:"The next one; the timer ends if absent"`
	}
	getTimerRead struct {
		readName
		timerName
	}
	listTimersRead struct {
		pageRead
		Manager string `json:"manager"`
		Key     string `json:"key,omitempty" doc:"All instances if absent"`
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
