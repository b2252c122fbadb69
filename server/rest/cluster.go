package rest

import (
	"errors"
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

func (f *front) routeCluster() {
	const tag, path = "cluster", "/v1/cluster"
	register(f, route{
		method: http.MethodGet, path: path, id: "get-cluster", tag: tag, summary: "The cluster as this node sees it", answers: document.ClusterStatus{},
	}, (*call).clusterStatus)
	for change, summary := range map[agent.Change]string{
		agent.ChangeLeave:    "Remove a node for good",
		agent.ChangeTransfer: "Hand leadership to a node, or to any",
		agent.ChangePromote:  "Let a node vote once it has caught up",
		agent.ChangeDemote:   "Take a node's vote",
	} {
		register(f, route{
			method: http.MethodPost, path: path + "/" + string(change), id: string(change) + "-node", tag: tag, summary: summary,
			bodyNeeded: change != agent.ChangeTransfer, answers: document.Changed{},
		}, func(c *call, body *document.ChangeBody) error { return c.change(change, body.Node) })
	}
	register(f, route{
		method: http.MethodGet, path: path + "/backup", id: "get-backup", tag: tag, summary: "A consistent snapshot of the whole store",
		media: "application/octet-stream", streams: true,
	}, (*call).backup)
}

func (c *call) clusterStatus(*none) error {
	status, err := c.front.operator.Status(c.r.Context())
	if err != nil {
		return readOutcome(err)
	}
	c.at(status.AppliedIndex)
	return c.answer(reply{body: document.ClusterStatusOf(status)})
}

func (c *call) change(change agent.Change, node string) error {
	if node == "" && change != agent.ChangeTransfer {
		return agent.Invalid("node", "say which node is to %s", change)
	}
	leader, err := c.front.operator.Change(c.r.Context(), change, node)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: document.Changed{Leader: leader}})
}

// backup streams. What goes wrong after the first byte ends the connection, so
// that a torn backup cannot be taken for a whole one.
func (c *call) backup(*none) error {
	c.w.Header().Set("Content-Type", "application/octet-stream")
	c.w.Header().Set("Content-Disposition", `attachment; filename="dormouse.backup"`)
	if c.r.Method == http.MethodHead {
		c.w.WriteHeader(http.StatusOK)
		return nil
	}
	err := c.front.operator.Backup(c.r.Context(), extending{c.w})
	if err == nil {
		return nil
	}
	if c.w.status == 0 {
		c.w.Header().Del("Content-Disposition")
		return readOutcome(err)
	}
	c.front.options.Logger.Error("a backup broke off", "error", err)
	panic(http.ErrAbortHandler)
}

// extending gives the caller time again for every piece of a stream.
type extending struct{ w *writer }

func (e extending) Write(piece []byte) (int, error) {
	e.w.extend()
	n, err := e.w.Write(piece)
	if err != nil {
		return n, errors.Join(errGone, err)
	}
	return n, nil
}

// errGone says that the caller takes no more.
var errGone = errors.New("the caller is gone")
