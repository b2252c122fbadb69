package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeMemory(f *api) {
	const tag, one = "memory", "/v1/memory/{agent}/{id}"
	register(f, route{
		method: http.MethodPut, path: one, id: "put-memory", tag: tag, summary: "Write or overwrite a memory: it becomes the last written one",
		effect: writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.MemoryStamp{},
	}, func(c *request, body *document.MemoryBody) error { return writeMemory(c, c.id("id"), body) })
	register(f, route{
		method: http.MethodPost, path: "/v1/memory/{agent}", id: "write-memory", tag: tag,
		summary: "Write a memory whose id is derived from its content: equal memories have equal ids",
		effect:  writes, bodyNeeded: true, creates: true, answers: document.MemoryStamp{},
	}, func(c *request, body *document.MemoryBody) error { return writeMemory(c, "", body) })
	register(f, route{
		method: http.MethodGet, path: one, id: "get-memory", tag: tag, summary: "Read a memory, with its embedding",
		effect: reads, answers: document.Memory{},
	}, getMemory)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-memory", tag: tag, summary: "Delete a memory",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, deleteMemory)
	register(f, route{
		method: http.MethodGet, path: "/v1/memory", id: "list-memory", tag: tag,
		summary: "List the memories of an agent in the order of their ids, or of all agents, oldest write first",
		effect:  reads, query: append([]string{"agent_id"}, orderedQuery...), answers: document.List[document.Memory]{},
	}, listMemories)
	register(f, route{
		method: http.MethodPost, path: "/v1/memory/recall", id: "recall", tag: tag,
		summary: "Search an agent's memories: the last written, by a filter, by text, by a vector, or by both",
		effect:  reads, bodyNeeded: true, answers: document.Recalled{},
	}, recall)
}

func writeMemory(c *request, id string, body *document.MemoryBody) error {
	op, err := body.ToOp(c.id("agent"), id)
	if err != nil {
		return err
	}
	if c.route.condition != "" {
		op.IfRevision = c.conditioned(op.IfRevision)
	}
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.MemoryResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: document.MemoryStampOf(stamp)}
	if stamp.Revision == 1 { // revisions start at 1 in each incarnation
		a.location = location("memory", stamp.Agent, stamp.ID)
	}
	return c.answer(a)
}

func getMemory(c *request, _ *none) error {
	found, err := read[*agent.Memory](c, &agent.GetMemory{Agent: c.id("agent"), ID: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.MemoryOf(*found)})
}

func deleteMemory(c *request, _ *none) error {
	_, err := c.commit(&agent.DeleteMemory{
		Agent:         c.id("agent"),
		ID:            c.id("id"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func listMemories(c *request, _ *none) error {
	found, err := read[*agent.MemoryList](c, &agent.ListMemories{Agent: c.text("agent_id"), Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.MemoryOf)})
}
