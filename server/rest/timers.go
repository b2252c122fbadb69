package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// timerBody is when a timer fires, and what it says.
type timerBody struct {
	Cron     string          `json:"cron,omitempty" doc:"Five fields, six (seconds first), seven (and the year last), or a macro such as @daily; this or at"`
	At       int64           `json:"at,omitempty" doc:"When it fires, once, Unix ms; one that has passed fires at once"`
	TimeZone strictjson.Text `json:"time_zone,omitempty" doc:"Of cron, by its IANA name; UTC where absent"`
	Missed   string          `json:"missed,omitempty" enum:"skip,fire_once,catch_up" doc:"What becomes of occurrences that nobody could fire in time: skip where absent, fire_once of an at"`
	CatchUp  uint64          `json:"catch_up,omitempty" doc:"Of catch_up: the last so many are fired; 16 where absent"`
	Type     string          `json:"type,omitempty" doc:"Of the signal; timer where absent"`
	Data     document        `json:"data,omitempty" doc:"Of the signal"`
}

func (b *timerBody) timer(manager, key, id string) agent.Timer {
	return agent.Timer{
		Manager: manager, Key: key, ID: id, Cron: b.Cron, Next: b.At, TimeZone: string(b.TimeZone), Missed: agent.Missed(b.Missed), CatchUp: b.CatchUp,
		Type: b.Type, Data: agent.JSON(b.Data),
	}
}

// timer is a timer as it stands.
type timer struct {
	Manager    string   `json:"manager"`
	Key        string   `json:"key"`
	ID         string   `json:"id"`
	Cron       string   `json:"cron,omitzero"`
	TimeZone   string   `json:"time_zone,omitzero"`
	Missed     string   `json:"missed"`
	CatchUp    uint64   `json:"catch_up,omitzero"`
	Type       string   `json:"type"`
	Data       document `json:"data,omitzero"`
	Generation uint64   `json:"generation" doc:"Of the timer as it was last put; it only grows"`
	Next       int64    `json:"next,omitzero" doc:"The pending occurrence; left out until a cron's first one has been reckoned, just after it was put"`
	NotBefore  int64    `json:"not_before,omitzero" doc:"When the next attempt may be made, after one that failed"`
	Attempts   uint64   `json:"attempts,omitzero" doc:"Attempts at the pending occurrence that failed"`
	Parked     bool     `json:"parked,omitzero" doc:"Its attempts are used up: it fires no more until it is put anew"`
	LastError  string   `json:"last_error,omitzero"`
	CreatedAt  int64    `json:"created_at"`
	UpdatedAt  int64    `json:"updated_at" doc:"When it was last put"`
}

func timerOf(t agent.Timer) timer {
	return timer{
		Manager: t.Manager, Key: t.Key, ID: t.ID, Cron: t.Cron, TimeZone: t.TimeZone, Missed: string(t.Missed), CatchUp: t.CatchUp, Type: t.Type,
		Data: document(t.Data), Generation: t.Generation, Next: t.Next, NotBefore: t.NotBefore, Attempts: t.Attempts, Parked: t.Parked,
		LastError: t.LastError, CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt,
	}
}

func (f *front) routeTimers() {
	const tag, all = "timers", "/v1/managers/{manager}/instances/{key}/timers"
	register(f, route{
		method: http.MethodPut, path: all + "/{timer}", id: "put-timer", tag: tag, summary: "Set a timer of an instance, in place of the one under that id",
		effect: writes, bodyNeeded: true, answers: timer{},
	}, (*call).putTimer)
	register(f, route{
		method: http.MethodGet, path: all + "/{timer}", id: "get-timer", tag: tag, summary: "Read a timer",
		effect: reads, answers: timer{},
	}, (*call).getTimer)
	register(f, route{
		method: http.MethodDelete, path: all + "/{timer}", id: "delete-timer", tag: tag, summary: "Cancel a timer",
		effect: writes, status: http.StatusNoContent,
	}, (*call).deleteTimer)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-timers", tag: tag, summary: "List an instance's timers, in id order",
		effect: reads, query: listQuery, answers: list[timer]{},
	}, func(c *call, _ *none) error { return c.listTimers(c.id("key")) })
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/timers", id: "list-all-timers", tag: tag,
		summary: "List the timers of all of a manager's instances, in the order of their keys; prefix is of keys",
		effect:  reads, query: listQuery, answers: list[timer]{},
	}, func(c *call, _ *none) error { return c.listTimers("") })
}

func (c *call) putTimer(body *timerBody) error {
	result, err := c.commit(&agent.PutTimer{Timer: body.timer(c.id("manager"), c.id("key"), c.id("timer"))})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.TimerResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: timerOf(done.Timer)})
}

func (c *call) getTimer(*none) error {
	found, err := read[*agent.Timer](c, &agent.GetTimer{Manager: c.id("manager"), Key: c.id("key"), ID: c.id("timer")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: timerOf(*found)})
}

func (c *call) deleteTimer(*none) error {
	if _, err := c.commit(&agent.DeleteTimer{Manager: c.id("manager"), Key: c.id("key"), ID: c.id("timer")}); err != nil {
		return err
	}
	return c.answer(reply{})
}

func (c *call) listTimers(key string) error {
	found, err := read[*agent.TimerList](c, &agent.ListTimers{Manager: c.id("manager"), Key: key, Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: listOf(found.Items, found.Next, timerOf)})
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
		timerBody
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
	return &agent.PutTimer{Timer: o.timer(o.Manager, o.Key, o.Timer)}, nil
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
