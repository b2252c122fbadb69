package sim

import (
	"context"
	"fmt"
	"time"

	"dormouse/fsm"
	"dormouse/internal/pause"
	"dormouse/jepsen/check"
)

// rowsMax bounds the time until all nodes have the state of one index.
const rowsMax = time.Minute

// compareRows compares every row of all running nodes, at one index. The walk of the
// harness sees only what a client can read.
func (c *Cluster) compareRows(ctx context.Context) check.Result {
	began := time.Now()
	r := check.Result{Check: "rows", Verdict: check.Unknown, Why: "the nodes did not reach one index", Counts: map[string]int{}}
	ctx, cancel := context.WithTimeout(ctx, rowsMax)
	defer cancel()
	for r.Verdict == check.Unknown {
		hashes, index, err := c.hashes(ctx)
		switch {
		case err != nil:
			r.Why = err.Error()
		case hashes != nil:
			r.Verdict, r.Why = check.OK, ""
			r.Counts["nodes"] = len(hashes)
			for _, h := range hashes {
				if h != hashes[0] {
					r.Verdict = check.Violation
					r.Findings = []check.Finding{{Rule: "different rows", Detail: fmt.Sprintf("the states of the nodes differ at index %d: %v", index, hashes)}}
				}
			}
		}
		if r.Verdict == check.Unknown && !pause.For(ctx, 50*time.Millisecond) {
			break
		}
	}
	r.Took = time.Since(began)
	return r
}

// hashes returns the hash of all rows of each node; nil if the nodes have different indexes.
func (c *Cluster) hashes(ctx context.Context) (all []string, index uint64, err error) {
	var views []*fsm.View
	defer func() {
		for _, v := range views {
			v.Close()
		}
	}()
	for _, h := range c.hosts {
		n := h.node()
		if n == nil {
			return nil, 0, fmt.Errorf("%s does not run", h.name)
		}
		v := n.Machine().View()
		views = append(views, v)
		if v.Index() != views[0].Index() {
			return nil, 0, nil
		}
	}
	for _, v := range views {
		hash, err := v.StateHash(ctx)
		if err != nil {
			return nil, 0, err
		}
		all = append(all, hash)
	}
	return all, views[0].Index(), nil
}
