package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeTimers(f *web.API) {
	const tag, all = "timers", "/v1/managers/{manager}/instances/{key}/timers"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: all + "/{timer}", ID: "put-timer", Tag: tag, Summary: "Set a timer of an instance; replaces the one with that id",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Timer{},
	}, putTimer)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all + "/{timer}", ID: "get-timer", Tag: tag, Summary: "Read a timer",
		Effect: web.Reads, Answers: document.Timer{},
	}, getTimer)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: all + "/{timer}", ID: "delete-timer", Tag: tag, Summary: "Cancel a timer",
		Effect: web.Writes, Status: http.StatusNoContent,
	}, deleteTimer)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-timers", Tag: tag, Summary: "List an instance's timers, in id order",
		Effect: web.Reads, Query: web.ListQuery, Answers: document.List[document.Timer]{},
	}, func(c *web.Request, _ *web.None) error { return listTimers(c, c.ID("key")) })
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/managers/{manager}/timers", ID: "list-all-timers", Tag: tag,
		Summary: "List the timers of all of a manager's instances, in key order; prefix filters keys",
		Effect:  web.Reads, Query: web.ListQuery, Answers: document.List[document.Timer]{},
	}, func(c *web.Request, _ *web.None) error { return listTimers(c, "") })
}

func putTimer(c *web.Request, body *document.TimerBody) error {
	result, err := c.Commit(&agent.PutTimer{Timer: body.ToAgent(c.ID("manager"), c.ID("key"), c.ID("timer"))})
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.TimerResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.TimerOf(done.Timer)})
}

func getTimer(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Timer](c, &agent.GetTimer{Manager: c.ID("manager"), Key: c.ID("key"), ID: c.ID("timer")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.TimerOf(*found)})
}

func deleteTimer(c *web.Request, _ *web.None) error {
	if _, err := c.Commit(&agent.DeleteTimer{Manager: c.ID("manager"), Key: c.ID("key"), ID: c.ID("timer")}); err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listTimers(c *web.Request, key string) error {
	found, err := web.Read[*agent.TimerList](c, &agent.ListTimers{Manager: c.ID("manager"), Key: key, Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.TimerOf)})
}
