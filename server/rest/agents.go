package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeAgents(f *web.API) {
	const tag, one = "agents", "/v1/agents/{key}"
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: one + "/hibernate", ID: "hibernate-agent", Tag: tag,
		Summary: "Append what the journal lacks and put the checkpoint, in one commit",
		Effect:  web.Writes, Condition: "if_revision", BodyNeeded: true, Creates: true, Answers: document.Hibernated{},
	}, hibernate)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: one + "/thaw", ID: "thaw-agent", Tag: tag, Summary: "Read a checkpoint and the thread that it points to",
		Effect: web.Reads, Query: []string{"tail", "revision"}, Answers: document.Thawed{},
	}, thaw)
	routeWholeAgents(f)
}

func hibernate(c *web.Request, body *document.HibernateBody) error {
	put, journal, err := body.ToOps(c.ID("key"))
	if err != nil {
		return err
	}
	put.IfRevision = c.Conditioned(put.IfRevision)
	ops := []agent.Op{put}
	if journal != nil {
		ops = []agent.Op{journal, put}
	}
	result, err := c.Commit(ops...)
	if err != nil {
		return err
	}
	return answerHibernation(c, result)
}

func answerHibernation(c *web.Request, result agent.Result) error {
	last := len(result.Results) - 1
	stamp, err := web.ResultOf[*agent.CheckpointResult](result, last)
	if err != nil {
		return err
	}
	var journal *agent.ThreadResult
	if last > 0 {
		if journal, err = web.ResultOf[*agent.ThreadResult](result, 0); err != nil {
			return err
		}
	}
	a := web.Reply{Revision: &stamp.Revision, Body: document.HibernatedOf(stamp, journal)}
	if stamp.Revision == 1 {
		a.Location = web.PathOf("checkpoints", stamp.Key)
	}
	return c.Answer(a)
}

func thaw(c *web.Request, _ *web.None) error {
	found, err := web.Read[*agent.Thawed](c, &agent.Thaw{
		Key:      c.ID("key"),
		Tail:     c.Optional("tail"),
		Revision: c.Number("revision"),
	})
	if err != nil {
		return err
	}
	return c.Answer(web.Reply{Revision: &found.Checkpoint.Revision, Body: document.ThawedOf(found)})
}
