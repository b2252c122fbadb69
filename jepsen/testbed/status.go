package testbed

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Status is the cluster as one node sees it: the answer of GET /v1/cluster.
type Status struct {
	ClusterID    string   `json:"cluster_id"`
	Node         string   `json:"node"`   // who answers
	Leader       string   `json:"leader"` // node id; "" where it knows none
	Term         uint64   `json:"term"`
	CommitIndex  uint64   `json:"commit_index"`
	AppliedIndex uint64   `json:"applied_index"`
	Chain        string   `json:"chain"` // over all batches up to AppliedIndex, in hex
	Members      []Member `json:"members"`
}

// Member is a node as the answering one sees it.
type Member struct {
	ID           string `json:"id"`
	Voter        bool   `json:"voter"`
	WantVote     bool   `json:"want_vote"`
	Leader       bool   `json:"leader"`
	Status       string `json:"status"`        // alive, suspect, failed, left or unknown
	AppliedIndex uint64 `json:"applied_index"` // 0 where it could not be asked
}

// Voters is how many members vote.
func (s Status) Voters() int {
	n := 0
	for _, m := range s.Members {
		if m.Voter {
			n++
		}
	}
	return n
}

// askMax bounds one question to a node.
const askMax = 3 * time.Second

// Status asks the node of a host, past the network and its faults. A node
// answers whether it has a quorum or not.
func (b *Bed) Status(ctx context.Context, host string) (Status, error) {
	h := b.Host(host)
	if h == nil {
		return Status{}, fmt.Errorf("status of %s: there is no such host", host)
	}
	body, err := h.get(ctx, "/v1/cluster")
	if err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", host, err)
	}
	var s Status
	if err := json.Unmarshal(body, &s); err != nil {
		return Status{}, fmt.Errorf("status of %s: %w", host, err)
	}
	return s, nil
}

// Leader is the host whose node leads, in the eyes of a majority of the hosts
// that run. There may be none for a while: that is an error.
func (b *Bed) Leader(ctx context.Context) (string, error) {
	var asked []*Host
	for _, h := range b.Hosts() {
		if h.Running() {
			asked = append(asked, h)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // those who have not answered once a majority has
	answers := make(chan string, len(asked))
	for _, h := range asked {
		go func() {
			status, _ := b.Status(ctx, h.name) // who does not answer names nobody
			answers <- status.Leader
		}()
	}
	votes := map[string]int{}
	for range asked {
		node := <-answers
		votes[node]++
		if h := b.hostOf(node); h != nil && 2*votes[node] > len(asked) {
			return h.name, nil
		}
	}
	return "", fmt.Errorf("no leader that a majority of the %d running hosts names: they say %v", len(asked), votes)
}

// hostOf is the host that a node is on; nil if there is none.
func (b *Bed) hostOf(node string) *Host {
	for _, h := range b.Hosts() {
		if h.Node() == node {
			return h
		}
	}
	return nil
}

// statusError is an answer that is no success.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.code, e.text) }

// answerMax bounds what a node may answer; /metrics is the largest.
const answerMax = 4 << 20

// get asks the host's node over HTTP.
func (h *Host) get(ctx context.Context, path string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, askMax)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+h.HTTP()+path, nil)
	if err != nil {
		return nil, err
	}
	response, err := h.web.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // it was read
	body, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{response.StatusCode, strings.TrimSpace(string(body))}
	}
	return body, nil
}
