package testbed

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// Status is the cluster's status as one node sees it: the answer of GET /v1/cluster.
type Status struct {
	ClusterID    string   `json:"cluster_id"`
	Node         string   `json:"node"`   // the node that answers
	Leader       string   `json:"leader"` // node id; "" if it knows none
	Term         uint64   `json:"term"`
	CommitIndex  uint64   `json:"commit_index"`
	AppliedIndex uint64   `json:"applied_index"`
	Chain        string   `json:"chain"` // over all batches up to AppliedIndex, in hex
	Members      []Member `json:"members"`
}

// Member is another node as the answering node sees it.
type Member struct {
	ID           string `json:"id"`
	Voter        bool   `json:"voter"`
	WantVote     bool   `json:"want_vote"`
	Leader       bool   `json:"leader"`
	Status       string `json:"status"`        // alive, suspect, failed, left or unknown
	AppliedIndex uint64 `json:"applied_index"` // 0 if the node did not answer
}

// Voters returns the number of members that vote.
func (s Status) Voters() int {
	n := 0
	for _, m := range s.Members {
		if m.Voter {
			n++
		}
	}
	return n
}

// askMax bounds one request to a node.
const askMax = 3 * time.Second

// Status asks the node of a host, not affected by network faults. A node answers with
// or without a quorum.
func (b *Bed) Status(ctx context.Context, host string) (Status, error) {
	h := b.Host(host)
	if h == nil {
		return Status{}, fmt.Errorf("status of %s: no such host", host)
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

// StateSum is a hash of all rows of a node: the answer of GET /v1/cluster/state-sum.
type StateSum struct {
	Index uint64 `json:"index"`
	Hash  string `json:"hash"`
	Kinds []struct {
		Kind string `json:"kind"`
		Hash string `json:"hash"`
	} `json:"kinds"`
}

// hashMax bounds the time in which a node hashes its rows.
const hashMax = 30 * time.Second

// StateSum asks the node of a host for the hash of its rows. It returns nil if the node is of a
// version without such a call.
func (b *Bed) StateSum(ctx context.Context, host string) (*StateSum, error) {
	h := b.Host(host)
	if h == nil {
		return nil, fmt.Errorf("hash of the rows of %s: no such host", host)
	}
	body, err := h.getFor(ctx, "/v1/cluster/state-sum", hashMax)
	var status *statusError
	if errors.As(err, &status) && status.code == http.StatusNotFound {
		return nil, nil //nolint:nilnil // an older version is an answer
	}
	if err != nil {
		return nil, fmt.Errorf("hash of the rows of %s: %w", host, err)
	}
	sum := new(StateSum)
	if err := json.Unmarshal(body, sum); err != nil {
		return nil, fmt.Errorf("hash of the rows of %s: %w", host, err)
	}
	return sum, nil
}

// Leader returns the host of the node that a majority of the running hosts name as
// leader. It returns an error if there is none, which is normal for a while.
func (b *Bed) Leader(ctx context.Context) (string, error) {
	var asked []*Host
	for _, h := range b.Hosts() {
		if h.Running() {
			asked = append(asked, h)
		}
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // cancels the other requests once a majority has answered
	answers := make(chan string, len(asked))
	for _, h := range asked {
		go func() {
			status, _ := b.Status(ctx, h.name) // no answer counts as no leader
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
	return "", fmt.Errorf("no majority of the %d running hosts names one leader: votes %v", len(asked), votes)
}

// hostOf returns the host of a node, or nil.
func (b *Bed) hostOf(node string) *Host {
	for _, h := range b.Hosts() {
		if h.Node() == node {
			return h
		}
	}
	return nil
}

// statusError is an HTTP status other than 200.
type statusError struct {
	code int
	text string
}

func (e *statusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.code, e.text) }

// answerMax bounds an answer of a node; /metrics is the largest.
const answerMax = 4 << 20

// get makes an HTTP GET request to the host's node.
func (h *Host) get(ctx context.Context, path string) ([]byte, error) {
	return h.getFor(ctx, path, askMax)
}

// getFor is get with another timeout.
func (h *Host) getFor(ctx context.Context, path string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	scheme := "http"
	if h.bed.TLS() != nil && h.program == nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+h.HTTP()+path, nil)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+h.bed.Token())
	response, err := h.web.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	body, err := io.ReadAll(io.LimitReader(response.Body, answerMax))
	if err != nil {
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		return nil, &statusError{response.StatusCode, strings.TrimSpace(string(body))}
	}
	return body, nil
}
