package rest

import (
	"net/http"
	"strconv"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeCheckpoints(f *api) {
	const tag, key = "checkpoints", "/v1/checkpoints/{key}"
	register(f, route{
		method: http.MethodPut, path: key, id: "put-checkpoint", tag: tag, summary: "Write a checkpoint whole",
		effect: writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.CheckpointStamp{},
	}, putCheckpoint)
	register(f, route{
		method: http.MethodPatch, path: key, id: "patch-checkpoint", tag: tag, summary: "Merge a patch into the state (RFC 7396)",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "upsert", "shallow"}, existing: true, bodyNeeded: true,
		accepts: []string{"application/merge-patch+json", "application/json"}, answers: document.CheckpointStamp{},
	}, patchCheckpoint)
	register(f, route{
		method: http.MethodPatch, path: key + "/cron", id: "patch-checkpoint-cron", tag: tag,
		summary: "Set or cancel single jobs in the state's __cron_specs__",
		effect:  writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation"}, bodyNeeded: true, answers: document.CheckpointStamp{},
	}, patchCron)
	register(f, route{
		method: http.MethodDelete, path: key, id: "delete-checkpoint", tag: tag, summary: "Delete a checkpoint and its history",
		effect: writes, condition: "if_revision", query: []string{"if_revision", "if_incarnation", "seal_ms"}, status: http.StatusNoContent,
	}, deleteCheckpoint)
	register(f, route{
		method: http.MethodGet, path: key, id: "get-checkpoint", tag: tag, summary: "Read a checkpoint whole",
		effect: reads, query: []string{"revision"}, answers: document.Checkpoint{},
	}, getCheckpoint)
	register(f, route{
		method: http.MethodGet, path: "/v1/checkpoints", id: "list-checkpoints", tag: tag, summary: "List checkpoints in key order",
		effect: reads, query: bodiesQuery, answers: document.List[document.CheckpointRow]{},
	}, listCheckpoints)
	register(f, route{
		method: http.MethodGet, path: key + "/history", id: "list-checkpoint-history", tag: tag, summary: "List the revisions kept of a key, newest first",
		effect: reads, query: []string{"after", "limit"}, answers: document.List[document.CheckpointRow]{},
	}, checkpointHistory)
}

func putCheckpoint(c *request, body *document.CheckpointBody) error {
	op, err := body.ToOp(c.id("key"))
	if err != nil {
		return err
	}
	op.IfRevision = c.conditioned(op.IfRevision)
	return answerCheckpoint(c, op)
}

func patchCheckpoint(c *request, body *document.JSON) error {
	return answerCheckpoint(c, &agent.PatchCheckpoint{
		Key:           c.id("key"),
		Patch:         agent.JSON(*body),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Upsert:        c.flag("upsert"),
		Shallow:       c.flag("shallow"),
	})
}

func patchCron(c *request, specs *document.JSON) error {
	return answerCheckpoint(c, &agent.PatchCron{
		Key: c.id("key"), Specs: agent.JSON(*specs), IfRevision: c.conditioned(c.optional("if_revision")), IfIncarnation: c.number("if_incarnation"),
	})
}

// answerCheckpoint commits one write to a checkpoint.
func answerCheckpoint(c *request, op agent.Op) error {
	result, err := c.commit(op)
	if err != nil {
		return err
	}
	stamp, err := resultOf[*agent.CheckpointResult](result, 0)
	if err != nil {
		return err
	}
	a := reply{revision: &stamp.Revision, body: document.CheckpointStampOf(stamp)}
	if stamp.Revision == 1 && c.route.creates && !stamp.Skipped { // revisions start at 1 in each incarnation
		a.location = location("checkpoints", stamp.Key)
	}
	return c.answer(a)
}

func deleteCheckpoint(c *request, _ *none) error {
	_, err := c.commit(&agent.DeleteCheckpoint{
		Key:           c.id("key"),
		IfRevision:    c.conditioned(c.optional("if_revision")),
		IfIncarnation: c.number("if_incarnation"),
		Seal:          c.duration("seal_ms"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{})
}

func getCheckpoint(c *request, _ *none) error {
	found, err := read[*agent.Checkpoint](c, &agent.GetCheckpoint{Key: c.id("key"), Revision: c.number("revision")})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Revision, body: document.CheckpointOf(found)})
}

func listCheckpoints(c *request, _ *none) error {
	found, err := read[*agent.CheckpointList](c, &agent.ListCheckpoints{Page: c.page(), Body: c.includesBody(), Where: c.where()})
	if err != nil {
		return err
	}
	return c.answer(reply{body: document.ListOf(found.Items, found.Next, document.CheckpointRowOf)})
}

// checkpointHistory pages without the store: a history is short, so it is read whole. Its after is
// a revision, in descending order.
func checkpointHistory(c *request, _ *none) error {
	limit := c.number("limit")
	if limit == 0 {
		limit = agent.ListLimitDefault
	}
	if limit > agent.ListLimitMax {
		return agent.Invalid("limit", "limit is %d, more than %d", limit, agent.ListLimitMax)
	}
	after := c.optional("after")
	found, err := read[*agent.CheckpointList](c, &agent.CheckpointHistory{Key: c.id("key")})
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
	return c.answer(reply{body: document.ListOf(rows, next, document.CheckpointRowOf)})
}
