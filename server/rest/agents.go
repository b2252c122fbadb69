package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func routeAgents(f *api) {
	const tag, one = "agents", "/v1/agents/{key}"
	register(f, route{
		method: http.MethodPost, path: one + "/hibernate", id: "hibernate-agent", tag: tag,
		summary: "Append what the journal lacks and put the checkpoint, in one commit",
		effect:  writes, condition: "if_revision", bodyNeeded: true, creates: true, answers: document.Hibernated{},
	}, hibernate)
	register(f, route{
		method: http.MethodGet, path: one + "/thaw", id: "thaw-agent", tag: tag, summary: "Read a checkpoint and the thread that it points to",
		effect: reads, query: []string{"tail", "revision"}, answers: document.Thawed{},
	}, thaw)
	routeWholeAgents(f)
}

func hibernate(c *request, body *document.HibernateBody) error {
	put, journal, err := body.ToOps(c.id("key"))
	if err != nil {
		return err
	}
	put.IfRevision = c.conditioned(put.IfRevision)
	ops := []agent.Op{put}
	if journal != nil {
		ops = []agent.Op{journal, put}
	}
	result, err := c.commit(ops...)
	if err != nil {
		return err
	}
	return answerHibernation(c, result)
}

func answerHibernation(c *request, result agent.Result) error {
	last := len(result.Results) - 1
	stamp, err := resultOf[*agent.CheckpointResult](result, last)
	if err != nil {
		return err
	}
	var journal *agent.ThreadResult
	if last > 0 {
		if journal, err = resultOf[*agent.ThreadResult](result, 0); err != nil {
			return err
		}
	}
	a := reply{revision: &stamp.Revision, body: document.HibernatedOf(stamp, journal)}
	if stamp.Revision == 1 {
		a.location = location("checkpoints", stamp.Key)
	}
	return c.answer(a)
}

func thaw(c *request, _ *none) error {
	found, err := read[*agent.Thawed](c, &agent.Thaw{
		Key:      c.id("key"),
		Tail:     c.optional("tail"),
		Revision: c.number("revision"),
	})
	if err != nil {
		return err
	}
	return c.answer(reply{revision: &found.Checkpoint.Revision, body: document.ThawedOf(found)})
}
