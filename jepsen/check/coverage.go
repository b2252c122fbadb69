package check

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"dormouse/jepsen/history"
)

// CoverageName is the Check of the result of Coverage.
const CoverageName = "coverage"

// Met is something that a run is for: the key of its count in the result of Coverage.
type Met string

// What runs are for.
const (
	MetSnapshots     Met = "snapshots taken"
	MetInstalls      Met = "snapshots installed"
	MetLedInstalled  Met = "led after an install"
	MetTruncations   Met = "log truncations"
	MetAnswered      Met = "answers from the dedup table"
	MetAnsweredLater Met = "answers from the dedup table of an installed snapshot"
	MetSharedFences  Met = "fences in shared entries"
	MetLeasesEnded   Met = "node leases that lapsed"
	MetDrained       Met = "partitions drained"
	MetForksCut      Met = "compactions beside forks"
	MetRecalls       Met = "recalls beside deletes"
)

// MetMin is how often a cover must have met what a target names.
const MetMin = 20

// Target says which workload and nemesis of a cover must meet what. "" means any.
type Target struct {
	Workload, Nemesis string
	Meets             Met
}

// Targets are the targets of a cover.
var Targets = []Target{
	{"", "kill", MetSnapshots},
	{"", "lost-disk", MetInstalls},
	{"", "partition", MetInstalls},
	{"", "membership", MetLedInstalled},
	{"", "partition", MetTruncations},
	{"dedupe", "kill", MetAnswered},
	{"dedupe", "partition", MetAnsweredLater},
	{"claim", "", MetSharedFences},
	{"instance", "partition", MetLeasesEnded},
	{"instance", "membership", MetDrained},
	{"fork", "", MetForksCut},
	{"recall", "", MetRecalls},
}

// Of reports whether a run with these workloads and nemeses counts for the target.
func (t Target) Of(h history.Header) bool {
	return (t.Workload == "" || slices.Contains(h.Workloads, t.Workload)) &&
		(t.Nemesis == "" || hasNemesis(h, t.Nemesis))
}

// hasNemesis reports whether a run has a nemesis of a group, or a variant of it.
func hasNemesis(h history.Header, group string) bool {
	return slices.ContainsFunc(h.Nemeses, func(name string) bool {
		of, _, _ := strings.Cut(name, "/")
		return of == group
	})
}

// Coverage counts how often a run met what runs are for, from the nodes' samples and from the
// calls. It breaks no promise, so that its verdict is always ok: a cover of many runs judges the
// sums by Targets.
func Coverage(h *history.History) Result {
	began := time.Now()
	c := &coverage{counts: map[Met]int{}, nodes: map[string]*nodeMet{}}
	for _, e := range h.Events {
		switch e.Kind {
		case history.EventSample:
			c.sample(e)
		case history.EventLeader:
			if n := c.nodes[e.Node]; n != nil && n.installed {
				c.counts[MetLedInstalled]++
			}
		default:
		}
	}
	c.replicated()
	c.forks(h)
	c.recalls(h)
	r := Result{Check: CoverageName, Verdict: OK, Counts: map[string]int{}}
	for _, t := range Targets {
		r.Counts[string(t.Meets)] = c.counts[t.Meets]
	}
	r.Took = time.Since(began)
	return r
}

// coverage is the count of a run.
type coverage struct {
	counts map[Met]int
	nodes  map[string]*nodeMet
}

// nodeMet is what the samples of a node show.
type nodeMet struct {
	last      Sample
	installed bool        // its state came by a snapshot once
	sums      map[Met]int // of what each replica counts
}

func (c *coverage) sample(e history.Event) {
	s, ok := SampleOf(e)
	if !ok {
		return
	}
	n := c.nodes[e.Node]
	if n == nil {
		n = &nodeMet{sums: map[Met]int{}}
		c.nodes[e.Node] = n
	}
	more := func(was, is int) int {
		if is < was { // a new process counts from 0
			return is
		}
		return is - was
	}
	c.counts[MetSnapshots] += more(n.last.Snapshots, s.Snapshots)
	c.counts[MetTruncations] += more(n.last.Truncations, s.Truncations)
	installs := more(n.last.Installs, s.Installs)
	c.counts[MetInstalls] += installs
	answered := more(n.last.Answered, s.Answered)
	if n.installed && s.Leader == e.Node {
		c.counts[MetAnsweredLater] += answered
	}
	n.sums[MetAnswered] += answered
	n.sums[MetSharedFences] += more(n.last.SharedFences, s.SharedFences)
	n.sums[MetLeasesEnded] += more(n.last.LeasesEnded, s.LeasesEnded)
	n.sums[MetDrained] += more(n.last.Drained, s.Drained)
	n.installed = n.installed || installs > 0
	n.last = s
}

// replicated sets the counts of what several replicas count: to the sum of the node that counted most.
// With raft.decide = leader a replica counts only answers and fences that it decided itself, so the sum
// may be less than what the run met, and never more.
func (c *coverage) replicated() {
	for _, n := range c.nodes {
		for met, sum := range n.sums {
			c.counts[met] = max(c.counts[met], sum)
		}
	}
}

// forks counts compactions of threads of which forks exist.
func (c *coverage) forks(h *history.History) {
	forked := map[string]time.Duration{} // :: key → return of the first fork
	for _, op := range h.Ops {
		if op.Workload != "fork" || op.Outcome != history.OK {
			continue
		}
		first, known := forked[op.Key]
		switch {
		case op.Call == "fork" && (!known || op.Return < first):
			forked[op.Key] = op.Return
		case op.Call == "compact" && known && first < op.Invoke:
			c.counts[MetForksCut]++
		}
	}
}

// recalls counts recalls during which a memory of the agent was written or deleted.
func (c *coverage) recalls(h *history.History) {
	type span struct{ from, to time.Duration }
	churns := map[string][]span{} // :: agent → its calls, by invocation
	longest := time.Duration(0)
	for _, op := range h.Ops {
		if op.Workload == "recall" && op.Call == "churn" && op.Outcome == history.OK {
			churns[op.Key] = append(churns[op.Key], span{op.Invoke, op.Return})
			longest = max(longest, op.Return-op.Invoke)
		}
	}
	for _, op := range h.Ops {
		if op.Workload != "recall" || op.Call != "read" || op.Outcome != history.OK {
			continue
		}
		all := churns[op.Key]
		from, _ := slices.BinarySearchFunc(all, op.Invoke-longest, func(s span, at time.Duration) int { return cmp.Compare(s.from, at) })
		for _, s := range all[from:] {
			if s.from > op.Return {
				break
			}
			if s.to >= op.Invoke {
				c.counts[MetRecalls]++
				break
			}
		}
	}
}
