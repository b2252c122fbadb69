package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeTimers(f *api) {
	const tag, all = "timers", "/v1/managers/{manager}/instances/{key}/timers"
	register(f, route{
		method: http.MethodPut, path: all + "/{timer}", id: "put-timer", tag: tag, summary: "Set a timer of an instance; replaces the one with that id",
		effect: writes, bodyNeeded: true, answers: document.Timer{},
	}, putTimer)
	register(f, route{
		method: http.MethodGet, path: all + "/{timer}", id: "get-timer", tag: tag, summary: "Read a timer",
		effect: reads, answers: document.Timer{},
	}, getTimer)
	register(f, route{
		method: http.MethodDelete, path: all + "/{timer}", id: "delete-timer", tag: tag, summary: "Cancel a timer",
		effect: writes, status: http.StatusNoContent,
	}, deleteTimer)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-timers", tag: tag, summary: "List an instance's timers, in id order",
		effect: reads, query: listQuery, answers: document.List[document.Timer]{},
	}, func(c *request, _ *none) error { return listTimers(c, c.id("key")) })
	register(f, route{
		method: http.MethodGet, path: "/v1/managers/{manager}/timers", id: "list-all-timers", tag: tag,
		summary: "List the timers of all of a manager's instances, in key order; prefix filters keys",
		effect:  reads, query: listQuery, answers: document.List[document.Timer]{},
	}, func(c *request, _ *none) error { return listTimers(c, "") })
}

func putTimer(c *request, body *document.TimerBody) error {
	result, err := c.commit(&agent.PutTimer{Timer: body.ToAgent(c.id("manager"), c.id("key"), c.id("timer"))})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.TimerResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.TimerOf(done.Timer)})
}

func getTimer(c *request, _ *none) error {
	found, err := read[*agent.Timer](c, &agent.GetTimer{Manager: c.id("manager"), Key: c.id("key"), ID: c.id("timer")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.TimerOf(*found)})
}

func deleteTimer(c *request, _ *none) error {
	if _, err := c.commit(&agent.DeleteTimer{Manager: c.id("manager"), Key: c.id("key"), ID: c.id("timer")}); err != nil {
		return err
	}
	return c.answer(reply{})
}

func listTimers(c *request, key string) error {
	found, err := read[*agent.TimerList](c, &agent.ListTimers{Manager: c.id("manager"), Key: key, Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.TimerOf)})
}
