package rest

import (
	"cmp"
	"net/http"

	"github.com/google/uuid"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeThreads(f *web.API) {
	const tag, all, one = "threads", "/v1/threads", "/v1/threads/{id}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: all, ID: "create-thread", Tag: tag, Summary: "Create a thread with a generated id",
		Effect: web.Writes, Status: http.StatusCreated, Creates: true, Answers: document.ThreadStamp{},
	}, createThread)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: all, ID: "list-threads", Tag: tag, Summary: "List threads in id order",
		Effect: web.Reads, Query: web.RowsQuery, Answers: document.List[document.Thread]{},
	}, listThreads)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one, ID: "get-thread", Tag: tag, Summary: "Read a thread's meta",
		Effect: web.Reads, Answers: document.Thread{},
	}, getThread)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: one, ID: "delete-thread", Tag: tag, Summary: "Delete a thread",
		Effect: web.Writes, Query: []string{"seal_ms", "if_incarnation"}, Status: http.StatusNoContent,
	}, deleteThread)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/compact", ID: "compact-thread", Tag: tag, Summary: "Remove the entries below a seq; rev and head stay",
		Effect: web.Writes, BodyNeeded: true, Answers: document.Compacted{},
	}, compactThread)
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/fork", ID: "fork-thread", Tag: tag, Summary: "Fork a thread; the fork shares its entries",
		Effect: web.Writes, BodyNeeded: true, Status: http.StatusCreated, Creates: true, Answers: document.Thread{},
	}, forkThread)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/verify", ID: "verify-thread", Tag: tag, Summary: "Recompute the chain against the stored head",
		Effect: web.Reads, Answers: document.Verified{},
	}, verifyThread)
}

// threadIDs is the namespace of thread ids derived from idempotency keys.
var threadIDs = uuid.MustParse("6b8a2f5c-3f1e-4d55-9a6c-6f3f1f0f7c11")

// newID generates an id. A retry with an idempotency key must be the same commit, so then the id is
// derived from the key, within a namespace.
func newID(c *web.Request, prefix string, space uuid.UUID) (string, error) {
	if c.IdemKey != "" {
		scope := cmp.Or(c.Scope, agent.DefaultScope)
		return prefix + uuid.NewSHA1(space, []byte(scope+"\x00"+c.IdemKey)).String(), nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return "", agent.Errorf(agent.CodeInternal, "cannot generate an id: %v", err)
	}
	return prefix + id.String(), nil
}

func createThread(c *web.Request, body *document.NewThreadBody) error {
	id, err := newID(c, "thread_", threadIDs)
	if err != nil {
		return err
	}
	result, err := c.Commit(&agent.AppendThread{
		Thread:      id,
		Entries:     body.Entries.ToAgent(),
		ExpectedRev: new(uint64), // a key that is reused after its window must not append
		Metadata:    agent.JSON(body.Metadata),
	})
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Thread.Rev, Location: web.PathOf("threads", id), Body: document.ThreadStampOf(done)})
}

func listThreads(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.ThreadList](c, &agent.ListThreads{Page: c.Page()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.ThreadOf)})
}

func getThread(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Thread](c, &agent.GetThread{Thread: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Rev, Body: document.ThreadOf(*found)})
}

func deleteThread(c *web.Request, _ *web.None) error {
	_, err := c.Commit(&agent.DeleteThread{
		Thread:        c.ID("id"),
		IfIncarnation: c.Number("if_incarnation"),
		Seal:          c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func compactThread(c *web.Request, body *document.CompactBody) error {
	result, err := c.Commit(body.ToOp(c.ID("id")))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	t := done.Thread
	return c.Answer(web.Reply{Revision: &t.Rev, Body: document.CompactedOf(t)})
}

func forkThread(c *web.Request, body *document.ForkBody) error {
	result, err := c.Commit(body.ToOp(c.ID("id")))
	if err != nil {
		return err
	}
	done, err := web.ResultOf[*agent.ThreadResult](result, 0)
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &done.Thread.Rev, Location: web.PathOf("threads", done.Thread.ID), Body: document.ThreadOf(done.Thread)})
}

func verifyThread(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Verified](c, &agent.VerifyThread{Thread: c.ID("id")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.VerifiedOf(found)})
}
