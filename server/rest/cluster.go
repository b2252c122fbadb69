package rest

import (
	"errors"
	"net/http"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

func routeCluster(f *web.API) {
	const tag, path = "cluster", "/v1/cluster"
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: path, ID: "get-cluster", Tag: tag, Summary: "The cluster as this node sees it", Answers: document.ClusterStatus{},
	}, clusterStatus)
	for change, summary := range map[layout.Change]string{
		layout.ChangeLeave:    "Remove a node for good",
		layout.ChangeTransfer: "Transfer leadership to a node, or to any node",
		layout.ChangePromote:  "Let a node vote once it has caught up",
		layout.ChangeDemote:   "Make a voter a non-voter",
		layout.ChangeDrain:    "Move all partitions of a member to others, and give it none: it stays a member",
		layout.ChangeResume:   "End the drain of a member, which may own partitions again",
	} {
		web.Register(f, web.Route{
			Method: http.MethodPost, Path: path + "/" + string(change), ID: string(change) + "-node", Tag: tag, Summary: summary,
			BodyNeeded: change != layout.ChangeTransfer, Answers: document.Changed{},
		}, func(c *web.Request, body *document.ChangeBody) error { return changeMembers(c, change, body.Node) })
	}
	web.Register(f, web.Route{
		Method: http.MethodPost, Path: path + "/join-tokens", ID: "create-join-token", Tag: tag,
		Summary: "A token with which a node that has no cluster key joins", Status: http.StatusCreated, Answers: document.JoinToken{},
	}, joinToken)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: path + "/backup", ID: "get-backup", Tag: tag, Summary: "A consistent snapshot of the whole store",
		Media: "application/octet-stream", Streams: true,
	}, backup)
	routeBackups(f, tag, path)
}

func clusterStatus(c *web.Request, _ *web.None) error {
	status, err := c.API.Operator.Status(c.Context)
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.At(status.AppliedIndex)
	return c.Answer(web.Reply{Body: document.ClusterStatusOf(status)})
}

func changeMembers(c *web.Request, change layout.Change, node string) error {
	if node == "" && change != layout.ChangeTransfer {
		return agent.Invalid("node", "name the node to %s", change)
	}
	leader, err := c.API.Operator.Change(c.Context, change, node)
	if err != nil {
		return web.WriteOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.Changed{Leader: leader}})
}

func joinToken(c *web.Request, body *document.JoinTokenBody) error {
	ttl, err := document.Duration("ttl_ms", body.TTLMS)
	if err != nil {
		return err
	}
	token, err := c.API.Operator.JoinToken(c.Context, ttl)
	if err != nil {
		return web.ReadOutcome(err)
	}
	return c.Answer(web.Reply{Body: document.JoinToken{Token: token.Secret, ExpiresAt: token.ExpiresAt}})
}

// backup streams. An error after the first byte closes the connection, so that a truncated backup
// is not mistaken for a complete one.
func backup(c *web.Request, _ *web.None) error {
	c.Writer.Header().Set("Content-Type", "application/octet-stream")
	c.Writer.Header().Set("Content-Disposition", `attachment; filename="dormouse.backup"`)
	if c.HTTP.Method == http.MethodHead {
		c.Writer.WriteHeader(http.StatusOK)
		return nil
	}
	err := c.API.Operator.Backup(c.Context, extending{c.Writer})
	if err == nil {
		return nil
	}
	if c.Writer.Status == 0 {
		c.Writer.Header().Del("Content-Disposition")
		return web.ReadOutcome(err)
	}
	c.API.Options.Logger.Error("a backup failed", "error", err)
	panic(http.ErrAbortHandler)
}

// extending extends the write deadline for every piece of a stream.
type extending struct{ w *web.Writer }

func (e extending) Write(piece []byte) (int, error) {
	e.w.ExtendDeadline()
	n, err := e.w.Write(piece)
	if err != nil {
		return n, errors.Join(errGone, err)
	}
	return n, nil
}

// errGone means that the client has disconnected.
var errGone = errors.New("the client has disconnected")
