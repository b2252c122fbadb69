package rest

import (
	"errors"
	"net/http"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/document"
)

func routeCluster(f *api) {
	const tag, path = "cluster", "/v1/cluster"
	register(f, route{
		method: http.MethodGet, path: path, id: "get-cluster", tag: tag, summary: "The cluster as this node sees it", answers: document.ClusterStatus{},
	}, clusterStatus)
	for change, summary := range map[layout.Change]string{
		layout.ChangeLeave:    "Remove a node for good",
		layout.ChangeTransfer: "Transfer leadership to a node, or to any node",
		layout.ChangePromote:  "Let a node vote once it has caught up",
		layout.ChangeDemote:   "Make a voter a non-voter",
		layout.ChangeDrain:    "Move all partitions of a member to others, and give it none: it stays a member",
		layout.ChangeResume:   "End the drain of a member, which may own partitions again",
	} {
		register(f, route{
			method: http.MethodPost, path: path + "/" + string(change), id: string(change) + "-node", tag: tag, summary: summary,
			bodyNeeded: change != layout.ChangeTransfer, answers: document.Changed{},
		}, func(c *request, body *document.ChangeBody) error { return changeMembers(c, change, body.Node) })
	}
	register(f, route{
		method: http.MethodPost, path: path + "/join-tokens", id: "create-join-token", tag: tag,
		summary: "A token with which a node that has no cluster key joins", status: http.StatusCreated, answers: document.JoinToken{},
	}, joinToken)
	register(f, route{
		method: http.MethodGet, path: path + "/backup", id: "get-backup", tag: tag, summary: "A consistent snapshot of the whole store",
		media: "application/octet-stream", streams: true,
	}, backup)
	routeBackups(f, tag, path)
}

func clusterStatus(c *request, _ *none) error {
	status, err := c.api.operator.Status(c.ctx)
	if err != nil {
		return readOutcome(err)
	}
	c.at(status.AppliedIndex)
	return c.answer(reply{body: document.ClusterStatusOf(status)})
}

func changeMembers(c *request, change layout.Change, node string) error {
	if node == "" && change != layout.ChangeTransfer {
		return agent.Invalid("node", "name the node to %s", change)
	}
	leader, err := c.api.operator.Change(c.ctx, change, node)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.Changed{Leader: leader}})
}

func joinToken(c *request, body *document.JoinTokenBody) error {
	ttl, err := document.Duration("ttl_ms", body.TTLMS)
	if err != nil {
		return err
	}
	token, err := c.api.operator.JoinToken(c.ctx, ttl)
	if err != nil {
		return readOutcome(err)
	}
	return c.answer(reply{body: document.JoinToken{Token: token.Secret, ExpiresAt: token.ExpiresAt}})
}

// backup streams. An error after the first byte closes the connection, so that a truncated backup
// is not mistaken for a complete one.
func backup(c *request, _ *none) error {
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set("Content-Disposition", `attachment; filename="dormouse.backup"`)
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	err := c.api.operator.Backup(c.ctx, extending{c.w})
	if err == nil {
		return nil
	}
	if c.w.status == 0 {
		c.w.Header().Del("Content-Disposition")
		return readOutcome(err)
	}
	c.api.options.Logger.Error("a backup failed", "error", err)
	panic(http.ErrAbortHandler)
}

// extending extends the write deadline for every piece of a stream.
type extending struct{ w *writer }

func (e extending) Write(piece []byte) (int, error) {
	e.w.extend()
	n, err := e.w.Write(piece)
	if err != nil {
		return n, errors.Join(errGone, err)
	}
	return n, nil
}

// errGone means that the client has disconnected.
var errGone = errors.New("the client has disconnected")
