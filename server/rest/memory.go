package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeMemory(f *web.API) {
	const tag, one = "memory", "/v1/memory/{agent}/{id}"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: one, ID: "put-memory", Tag: tag, Summary: "Write or overwrite a memory: it becomes the last written one",
		Effect: web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.MemoryStamp{},
	}, func(c *web.Request, body *document.MemoryBody) error { return writeMemory(c, c.ID("id"), body) })
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: "/v1/memory/{agent}", ID: "write-memory", Tag: tag,
		Summary: "Write a memory whose id is derived from its content: equal memories have equal ids",
		Effect:  web.Writes, BodyNeeded: true, Creates: true, Answers: document.MemoryStamp{},
	}, func(c *web.Request, body *document.MemoryBody) error { return writeMemory(c, "", body) })
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-memory", Tag: tag, Summary: "Read a memory, with its embedding",
		Effect: web.Reads, Answers: document.Memory{},
	}, getMemory)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-memory", Tag: tag, Summary: "Delete a memory",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Status: http.StatusNoContent,
	}, deleteMemory)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/memory", ID: "list-memory", Tag: tag,
		Summary: "List the memories of an agent in the order of their ids, or of all agents, oldest write first",
		Effect:  web.Reads, Query: append([]string{"agent_id"}, web.OrderedQuery...), Answers: document.List[document.Memory]{},
	}, listMemories)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: "/v1/memory/recall", ID: "recall", Tag: tag,
		Summary: "Search an agent's memories: the last written, by a filter, by text, by a vector, or by both",
		Effect:  web.Reads, BodyNeeded: true, Answers: document.Recalled{},
	}, recall)
}

func writeMemory(c *web.Request, id string, body *document.MemoryBody) error {
	op, err := body.ToOp(c.ID("agent"), id)
	if err != nil {
		return err
	}
	if c.Route.Condition != "" {
		op.IfRevision = c.Conditioned(op.IfRevision)
	}
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	stamp, err := web.ResultOf[*agent.MemoryResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &stamp.Revision, Body: document.MemoryStampOf(stamp)}
	if stamp.Revision == 1 { // revisions start at 1 in each incarnation
		a.Location = web.PathOf("memory", stamp.Agent, stamp.ID)
	}
	return c.Answer(a)
}

func getMemory(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Memory](c, &agent.GetMemory{Agent: c.ID("agent"), ID: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Revision, Body: document.MemoryOf(*found)})
}

func deleteMemory(c *web.Request, _ *web.None) error {
	_, err := c.Commit(&agent.DeleteMemory{
		Agent:         c.ID("agent"),
		ID:            c.ID("id"),
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		Seal:          c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func listMemories(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.MemoryList](c, &agent.ListMemories{Agent: c.Text("agent_id"), Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.MemoryOf)})
}
