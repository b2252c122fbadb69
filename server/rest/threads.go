package rest

import (
	"cmp"
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeThreads(f *api) {
	const tag, all, one = "threads", "/v1/threads", "/v1/threads/{id}"
	register(f, route{
		method: http.MethodPost, path: all, id: "create-thread", tag: tag, summary: "Create a thread with a generated id",
		effect: writes, status: http.StatusCreated, creates: true, answers: document.ThreadStamp{},
	}, createThread)
	register(f, route{
		method: http.MethodGet, path: all, id: "list-threads", tag: tag, summary: "List threads in id order",
		effect: reads, query: rowsQuery, answers: document.List[document.Thread]{},
	}, listThreads)
	register(f, route{
		method: http.MethodGet, path: one, id: "get-thread", tag: tag, summary: "Read a thread's meta",
		effect: reads, answers: document.Thread{},
	}, getThread)
	register(f, route{
		method: http.MethodDelete, path: one, id: "delete-thread", tag: tag, summary: "Delete a thread",
		effect: writes, query: []string{"seal_ms", "if_incarnation"}, status: http.StatusNoContent,
	}, deleteThread)
	register(f, route{
		method: http.MethodPost, path: one + "/compact", id: "compact-thread", tag: tag, summary: "Remove the entries below a seq; rev and head stay",
		effect: writes, bodyNeeded: true, answers: document.Compacted{},
	}, compactThread)
	register(f, route{
		method: http.MethodPost, path: one + "/fork", id: "fork-thread", tag: tag, summary: "Fork a thread; the fork shares its entries",
		effect: writes, bodyNeeded: true, status: http.StatusCreated, creates: true, answers: document.Thread{},
	}, forkThread)
	register(f, route{
		method: http.MethodGet, path: one + "/verify", id: "verify-thread", tag: tag, summary: "Recompute the chain against the stored head",
		effect: reads, answers: document.Verified{},
	}, verifyThread)
}

// threadIDs is the namespace of thread ids derived from idempotency keys.
var threadIDs = uuid.MustParse("6b8a2f5c-3f1e-4d55-9a6c-6f3f1f0f7c11")

// newID generates an id. A retry with an idempotency key must be the same commit, so then the id is
// derived from the key, within a namespace.
func newID(c *request, prefix string, space uuid.UUID) (string, error) {
	if c.idemKey != "" {
		scope := cmp.Or(c.scope, agent.DefaultScope)
		return prefix + uuid.NewSHA1(space, []byte(scope+"\x00"+c.idemKey)).String(), nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", agent.Errorf(agent.CodeInternal, "cannot generate an id: %v", err)
	}
	return prefix + id.String(), nil
}

func createThread(c *request, body *document.NewThreadBody) error {
	id, err := newID(c, "thread_", threadIDs)
	if err != nil {
		return err
	}
	result, err := c.commit(&agent.AppendThread{
		Thread:      id,
		Entries:     body.Entries.ToAgent(),
		ExpectedRev: new(uint64), // a key that is reused after its window must not append
		Metadata:    agent.JSON(body.Metadata),
	})
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, location: location("threads", id), body: document.ThreadStampOf(done)})
}

func listThreads(c *request, _ *none) error {
	found, err := read[*agent.ThreadList](c, &agent.ListThreads{Page: c.page()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.ThreadOf)})
}

func getThread(c *request, _ *none) error {
	found, err := read[*agent.Thread](c, &agent.GetThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Rev, body: document.ThreadOf(*found)})
}

func deleteThread(c *request, _ *none) error {
	_, err := c.commit(&agent.DeleteThread{
		Thread:        c.id("id"),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func compactThread(c *request, body *document.CompactBody) error {
	result, err := c.commit(body.ToOp(c.id("id")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	t := done.Thread
	return c.answer(reply{revision: &t.Rev, body: document.CompactedOf(t)})
}

func forkThread(c *request, body *document.ForkBody) error {
	result, err := c.commit(body.ToOp(c.id("id")))
	if err != nil {
		return err
	}
	done, err := resultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &done.Thread.Rev, location: location("threads", done.Thread.ID), body: document.ThreadOf(done.Thread)})
}

func verifyThread(c *request, _ *none) error {
	found, err := read[*agent.Verified](c, &agent.VerifyThread{Thread: c.id("id")})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.VerifiedOf(found)})
}
