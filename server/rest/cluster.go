package rest

import (
	"errors"
	"fmt"
	"net/http"

	"dormouse/agent"
)

// member is a node as the cluster knows it and the answering node sees it.
type member struct {
	ID           string    `json:"id"`
	Incarnation  string    `json:"incarnation"`
	Addresses    addresses `json:"addresses"`
	Voter        bool      `json:"voter"`
	WantVote     bool      `json:"want_vote"`
	Leader       bool      `json:"leader"`
	Status       string    `json:"status" doc:"alive, suspect, failed, left or unknown"`
	Version      string    `json:"version"`
	AppliedIndex uint64    `json:"applied_index" doc:"0 where the node could not be asked"`
	Host         bool      `json:"host,omitempty" doc:"It keeps instances and no data"`
}

type addresses struct {
	HTTP   string `json:"http,omitempty"`
	GRPC   string `json:"grpc,omitempty"`
	Raft   string `json:"raft,omitempty"`
	Gossip string `json:"gossip,omitempty"`
}

// clusterStatus is the cluster as one node sees it.
type clusterStatus struct {
	ClusterID    string   `json:"cluster_id"`
	Node         string   `json:"node" doc:"Who answers"`
	Leader       string   `json:"leader" doc:"Empty where none is known"`
	Term         uint64   `json:"term"`
	CommitIndex  uint64   `json:"commit_index"`
	AppliedIndex uint64   `json:"applied_index"`
	Chain        string   `json:"chain" doc:"Over all batches up to applied_index, in hex: equal on equal nodes"`
	FeatureLevel uint32   `json:"feature_level"`
	Version      string   `json:"version"`
	Members      []member `json:"members" nullable:"false"`
}

func clusterStatusOf(s agent.ClusterStatus) clusterStatus {
	out := clusterStatus{
		ClusterID: s.ClusterID, Node: s.Node, Leader: s.Leader, Term: s.Term,
		CommitIndex: s.CommitIndex, AppliedIndex: s.AppliedIndex, Chain: fmt.Sprintf("%08x", s.Chain),
		FeatureLevel: s.FeatureLevel, Version: s.Version, Members: make([]member, len(s.Members)),
	}
	for i, m := range s.Members {
		out.Members[i] = member{
			ID: m.ID, Incarnation: m.Incarnation,
			Addresses: addresses{HTTP: m.HTTPAddr, GRPC: m.GRPCAddr, Raft: m.RaftAddr, Gossip: m.GossipAddr},
			Voter:     m.Voter, WantVote: m.WantVote, Leader: m.Leader,
			Status: m.Status, Version: m.Version, AppliedIndex: m.AppliedIndex, Host: m.Host,
		}
	}
	return out
}

// changeBody names the node that a change is about.
type changeBody struct {
	Node string `json:"node,omitempty" doc:"The node's id; transfer takes any where absent"`
}

// changed answers a change.
type changed struct {
	Leader string `json:"leader" doc:"After the change"`
}

func (f *front) routeCluster() {
	const tag, path = "cluster", "/v1/cluster"
	register(f, route{
		method: http.MethodGet, path: path, id: "get-cluster", tag: tag, summary: "The cluster as this node sees it", answers: clusterStatus{},
	}, (*call).clusterStatus)
	for change, summary := range map[agent.Change]string{
		agent.ChangeLeave:    "Remove a node for good",
		agent.ChangeTransfer: "Hand leadership to a node, or to any",
		agent.ChangePromote:  "Let a node vote once it has caught up",
		agent.ChangeDemote:   "Take a node's vote",
	} {
		register(f, route{
			method: http.MethodPost, path: path + "/" + string(change), id: string(change) + "-node", tag: tag, summary: summary,
			bodyNeeded: change != agent.ChangeTransfer, answers: changed{},
		}, func(c *call, body *changeBody) error { return c.change(change, body.Node) })
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
	return c.answer(reply{body: clusterStatusOf(status)})
}

func (c *call) change(change agent.Change, node string) error {
	if node == "" && change != agent.ChangeTransfer {
		return agent.Invalid("node", "say which node is to %s", change)
	}
	leader, err := c.front.operator.Change(c.r.Context(), change, node)
	if err != nil {
		return writeOutcome(err)
	}
	return c.answer(reply{body: changed{Leader: leader}})
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

// extending gives the caller time anew for every piece of a stream.
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
