package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeCheckpoints(f *web.API) {
	const tag, key = "checkpoints", "/v1/checkpoints/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPut, Path: key, ID: "put-checkpoint", Tag: tag, Summary: "Write a checkpoint whole",
		Effect: web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.CheckpointStamp{},
	}, putCheckpoint)
	web.Register(f, web.Route{
		Method: http.MethodPatch, Path: key, ID: "patch-checkpoint", Tag: tag, Summary: "Merge a patch into the state (RFC 7396)",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "upsert", "shallow"}, Existing: true, BodyNeeded: true,
		Accepts: []string{"application/merge-patch+json", "application/json"}, Answers: document.CheckpointStamp{},
	}, patchCheckpoint)
	web.Register(f, web.Route{
		Method: http.MethodPatch, Path: key + "/cron", ID: "patch-checkpoint-cron", Tag: tag,
		Summary: "Set or cancel single jobs in the state's __cron_specs__",
		Effect:  web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation"}, BodyNeeded: true, Answers: document.CheckpointStamp{},
	}, patchCron)
	web.Register(f, web.Route{
		Method: http.MethodDelete, Path: key, ID: "delete-checkpoint", Tag: tag, Summary: "Delete a checkpoint and its history",
		Effect: web.Writes, Condition: "if_revision", Query: []string{"if_revision", "if_incarnation", "seal_ms"}, Status: http.StatusNoContent,
	}, deleteCheckpoint)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: key, ID: "get-checkpoint", Tag: tag, Summary: "Read a checkpoint whole",
		Effect: web.Reads, Query: []string{"revision"}, Answers: document.Checkpoint{},
	}, getCheckpoint)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/checkpoints", ID: "list-checkpoints", Tag: tag, Summary: "List checkpoints in key order",
		Effect: web.Reads, Query: web.BodiesQuery, Answers: document.List[document.CheckpointRow]{},
	}, listCheckpoints)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: key + "/history", ID: "list-checkpoint-history", Tag: tag, Summary: "List the revisions kept of a key, newest first",
		Effect: web.Reads, Query: []string{"after", "limit"}, Answers: document.List[document.CheckpointRow]{},
	}, checkpointHistory)
}

func putCheckpoint(c *web.Request, body *document.CheckpointBody) error {
	op, err := body.ToOp(c.ID("key"))
	if err != nil {
		return err
	}
	op.IfRevision = c.Conditioned(op.IfRevision)
	return answerCheckpoint(c, op)
}

func patchCheckpoint(c *web.Request, body *document.JSON) error {
	return answerCheckpoint(c, &agent.PatchCheckpoint{
		Key:           c.ID("key"),
		Patch:         agent.JSON(*body),
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		Upsert:        c.Flag("upsert"),
		Shallow:       c.Flag("shallow"),
	})
}

func patchCron(c *web.Request, specs *document.JSON) error {
	return answerCheckpoint(c, &agent.PatchCron{
		Key: c.ID("key"), Specs: agent.JSON(*specs), IfRevision: c.Conditioned(c.Optional("if_revision")), IfIncarnation: c.Number("if_incarnation"),
	})
}

// answerCheckpoint commits one write to a checkpoint.
func answerCheckpoint(c *web.Request, op agent.Op) error {
	result, err := c.Commit(op)
	if err != nil {
		return err
	}
	stamp, err := web.ResultOf[*agent.CheckpointResult](result, 0)
	if err != nil {
		return err
	}
	a := web.Reply{Revision: &stamp.Revision, Body: document.CheckpointStampOf(stamp)}
	if stamp.Revision == 1 && c.Route.Creates && !stamp.Skipped { // revisions start at 1 in each incarnation
		a.Location = web.PathOf("checkpoints", stamp.Key)
	}
	return c.Answer(a)
}

func deleteCheckpoint(c *web.Request, _ *web.None) error {
	_, err := c.Commit(&agent.DeleteCheckpoint{
		Key:           c.ID("key"),
		IfRevision:    c.Conditioned(c.Optional("if_revision")),
		IfIncarnation: c.Number("if_incarnation"),
		Seal:          c.Duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{})
}

func getCheckpoint(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Checkpoint](c, &agent.GetCheckpoint{Key: c.ID("key"), Revision: c.Number("revision")})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Revision, Body: document.CheckpointOf(found)})
}

func listCheckpoints(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.CheckpointList](c, &agent.ListCheckpoints{Page: c.Page(), Body: c.IncludesBody(), Where: c.Where()})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Body: document.ListOf(found.Items, found.Next, document.CheckpointRowOf)})
}

// checkpointHistory pages without the store: a history is short, so it is read whole. Its after is
// a revision, in descending order.
func checkpointHistory(c *web.Request, _ *web.None) error {
	limit := c.Number("limit")
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	if limit > agent.ListLimitMax {
		return agent.Invalid("limit", "limit is %d, more than %d", limit, agent.ListLimitMax)
	}
	after := c.Optional("after")
	found, err := web.Read[*agent.CheckpointList](c, &agent.CheckpointHistory{Key: c.ID("key")})
	if err != nil {
		return err
	}
	rows, next := found.Items, ""
	if after != nil {
		for len(rows) > 0 && rows[0].Revision >= *after {
			rows = rows[1:]
		}
	}
	if uint64(len(rows)) > limit {
		rows = rows[:limit]
		next = strconv.FormatUint(rows[limit-1].Revision, 10)
	}
	return c.Answer(web.Reply{Body: document.ListOf(rows, next, document.CheckpointRowOf)})
}
