package document

import (
	"fmt"
	"time"

	"dormouse/agent/layout"
	"dormouse/internal/history"
)

// Member is a node with its current status, as the answering node sees it.
type Member struct {
	ID           string    `json:"id"`
	Incarnation  string    `json:"incarnation"`
	Addresses    addresses `json:"addresses"`
	Voter        bool      `json:"voter"`
	WantVote     bool      `json:"want_vote"`
	Leader       bool      `json:"leader"`
	Status       string    `json:"status" doc:"alive, suspect, failed, left or unknown"`
	Version      string    `json:"version"`
	AppliedIndex uint64    `json:"applied_index" doc:"0 if the node did not answer"`
	DiskFree     int64     `json:"disk_free" doc:"Bytes free under its data directory; 0 if the node did not answer, or stores no data"`
	LastContact  int64     `json:"last_contact" doc:"When it last answered the answering node, Unix ms; 0 if it has not since that node started"`
	DrainedAt    int64     `json:"drained_at,omitzero" doc:"When an operator drained it, Unix ms; absent if it is not drained"`
	Host         bool      `json:"host,omitempty" doc:"It runs instances and stores no data"`
}

type addresses struct {
	HTTP   string `json:"http,omitempty"`
	GRPC   string `json:"grpc,omitempty"`
	Raft   string `json:"raft,omitempty"`
	Gossip string `json:"gossip,omitempty"`
}

// ClusterStatus is the status of the cluster, as one node sees it.
type ClusterStatus struct {
	ClusterID    string   `json:"cluster_id"`
	Node         string   `json:"node" doc:"The answering node"`
	Leader       string   `json:"leader" doc:"Empty if none is known"`
	Term         uint64   `json:"term"`
	CommitIndex  uint64   `json:"commit_index"`
	AppliedIndex uint64   `json:"applied_index"`
	Chain        string   `json:"chain" doc:"Over all batches up to applied_index, in hex: equal on equal nodes"`
	FeatureLevel uint32   `json:"feature_level"`
	Version      string   `json:"version"`
	Auth         string   `json:"auth" doc:"Of the answering node: tokens, or off if it asks for no credentials"`
	Insecure     bool     `json:"insecure" doc:"The answering node was started with --insecure"`
	Members      []Member `json:"members" nullable:"false"`

	Backup *BackupStatus `json:"backup,omitempty" doc:"Of the scheduled backups, by the leader; absent if there are none, or if it does not answer"`
}

// ClusterStatusOf returns the document of s.
func ClusterStatusOf(s layout.ClusterStatus) ClusterStatus {
	out := ClusterStatus{
		ClusterID: s.ClusterID, Node: s.Node, Leader: s.Leader, Term: s.Term,
		CommitIndex: s.CommitIndex, AppliedIndex: s.AppliedIndex, Chain: fmt.Sprintf("%08x", s.Chain),
		FeatureLevel: s.FeatureLevel, Version: s.Version, Auth: s.Auth, Insecure: s.Insecure, Members: make([]Member, len(s.Members)),
	}
	if s.Backup != nil {
		status := BackupStatusOf(*s.Backup)
		out.Backup = &status
	}
	for i, m := range s.Members {
		out.Members[i] = Member{
			ID: m.ID, Incarnation: m.Incarnation,
			Addresses: addresses{HTTP: m.HTTPAddr, GRPC: m.GRPCAddr, Raft: m.RaftAddr, Gossip: m.GossipAddr},
			Voter:     m.Voter, WantVote: m.WantVote, Leader: m.Leader,
			Status: m.Status, Version: m.Version, AppliedIndex: m.AppliedIndex, Host: m.Host,
			DiskFree: m.DiskFree, LastContact: m.LastContact, DrainedAt: m.DrainedAt,
		}
	}
	return out
}

// ChangeBody names the node to change.
type ChangeBody struct {
	Node string `json:"node,omitempty" doc:"The node's id; transfer takes any node if absent"`
}

// Changed is the result of a change.
type Changed struct {
	Leader string `json:"leader" doc:"After the change"`
}

// JoinTokenBody asks for a join token.
type JoinTokenBody struct {
	TTLMS uint64 `json:"ttl_ms,omitempty" doc:"How long the token is valid, at most 30 days; an hour if absent"`
}

// JoinToken lets a node that has no cluster key receive it.
type JoinToken struct {
	Token     string `json:"token"`
	ExpiresAt int64  `json:"expires_at"`
}

// Health is the answer of a probe that succeeds; a failed probe answers with a
// problem.
type Health struct {
	Status string `json:"status"`
}

// History is the number and the latencies of a node's calls over the last hour, in steps.
type History struct {
	Node    string `json:"node" doc:"The answering node"`
	From    int64  `json:"from" doc:"When the first step began, Unix ms. All nodes divide the time alike"`
	StepMS  int64  `json:"step_ms"`
	Writes  calls  `json:"writes" doc:"Commits by this node's servers"`
	Reads   calls  `json:"reads" doc:"Reads by this node's servers"`
	Signals calls  `json:"signals" doc:"Signals of instances by this node's servers"`
}

// calls has an element for each step, oldest first. The last step has not ended.
type calls struct {
	Calls []uint64 `json:"calls" nullable:"false" doc:"The number of calls in each step; at most 360 steps"`
	P50US []int64  `json:"p50_us" nullable:"false" doc:"The median of their durations, in microseconds; 0 without calls"`
	P99US []int64  `json:"p99_us" nullable:"false" doc:"The 99th percentile of their durations"`
}

// HistoryOf returns the document of s.
func HistoryOf(node string, s history.Snapshot) History {
	return History{
		Node: node, From: s.From.UnixMilli(), StepMS: history.StepLength.Milliseconds(),
		Writes: callsOf(s.Writes), Reads: callsOf(s.Reads), Signals: callsOf(s.Signals),
	}
}

func callsOf(s history.Series) calls {
	return calls{Calls: s.Calls, P50US: microseconds(s.P50), P99US: microseconds(s.P99)}
}

func microseconds(durations []time.Duration) []int64 {
	out := make([]int64, len(durations))
	for i, d := range durations {
		out[i] = d.Microseconds()
	}
	return out
}

// Settings are the settings in force of one node.
type Settings struct {
	Node     string    `json:"node" doc:"The answering node"`
	Settings []Setting `json:"settings" nullable:"false"`
}

// Setting is one setting of a node.
type Setting struct {
	Name    string `json:"name" doc:"As in a configuration file, such as http.addr"`
	Value   string `json:"value" doc:"In force. User names, passwords and queries of URLs are left out"`
	Default string `json:"default"`
}

// AuditRecords are records of one node's audit log, newest first.
type AuditRecords struct {
	Node    string  `json:"node" doc:"The answering node: each node has a log of its own"`
	Records []JSON  `json:"records" nullable:"false" doc:"As dormctl audit tail -o json prints them"`
	Next    *uint64 `json:"next" doc:"The before of the next page; null after the last one"`
}

// SlowCalls are the last slow calls of one node, newest first.
type SlowCalls struct {
	Node  string     `json:"node" doc:"The answering node"`
	Calls []SlowCall `json:"calls" nullable:"false"`
}

// SlowCall is a call that took at least as long as log.slow_call says.
type SlowCall struct {
	At          int64  `json:"at" doc:"When it ended, Unix ms"`
	Call        string `json:"call" doc:"commit, read, or a call of an instance"`
	Scope       string `json:"scope"`
	Ops         int    `json:"ops,omitempty" doc:"The number of ops or reads"`
	First       string `json:"first,omitempty" doc:"The kind of the first op or read"`
	Manager     string `json:"manager,omitempty"`
	Key         string `json:"key,omitempty"`
	TookUS      int64  `json:"took_us" doc:"The whole time on this node"`
	QueueUS     int64  `json:"queue_us,omitempty" doc:"A commit waited for the entry before its own"`
	ReplicateUS int64  `json:"replicate_us,omitempty" doc:"Until a majority had its entry on disk"`
	ApplyUS     int64  `json:"apply_us,omitempty" doc:"The state machine's time for its entry"`
	LeaderUS    int64  `json:"leader_us,omitempty" doc:"On another node than the leader: until that answered"`
	Code        string `json:"code,omitempty" doc:"The error's code, if the call failed"`
	Trace       string `json:"trace,omitempty" doc:"The id of its trace, if it is sampled"`
}

// StateSum is a hash of all rows of a node, and of the rows of each kind.
type StateSum struct {
	Node  string    `json:"node" doc:"The answering node"`
	Index uint64    `json:"index" doc:"The log index of the state"`
	Hash  string    `json:"hash" doc:"SHA-256 over all rows: equal on all nodes at one index"`
	Kinds []KindSum `json:"kinds" nullable:"false" doc:"The kinds that have rows"`
}

// KindSum describes the rows of one kind.
type KindSum struct {
	Kind  string `json:"kind" doc:"Such as thread or entry"`
	Rows  uint64 `json:"rows"`
	Bytes uint64 `json:"bytes" doc:"Of keys and values, before compression"`
	Hash  string `json:"hash" doc:"xxHash64 of the rows, in hex: equal on all nodes at one index"`
}

// NewKindSum returns the document of the rows of a kind.
func NewKindSum(kind string, rows, bytes, hash uint64) KindSum {
	return KindSum{Kind: kind, Rows: rows, Bytes: bytes, Hash: fmt.Sprintf("%016x", hash)}
}
