package client

import (
	"slices"
	"strings"

	"dormouse/agent"
)

// verdict is the reaction to a refused attempt.
type verdict int

const (
	settle    verdict = iota // return the error to the caller
	again                    // retry later
	elsewhere                // retry later, on another node
)

// classifyCommit returns the reaction to a refused attempt at a commit. undecided reports
// whether this or an earlier attempt may have been applied. Then only an answer from
// the log settles the commit, because other refusals are about their own attempt only.
func classifyCommit(e *agent.Error, before bool) (v verdict, undecided bool) {
	switch {
	case e.Final:
		return settle, before
	case e.Code == agent.CodeUnknown:
		return elsewhere, true
	case e.Code == agent.CodeUnavailable:
		return elsewhere, before
	case e.Code == agent.CodeOverloaded && overQuota(e) && !before:
		return settle, false
	case e.Code == agent.CodeOverloaded:
		return again, before
	case before:
		return elsewhere, true
	default: // refused by validation; or internal, which callers must treat as undecided
		return settle, false
	}
}

// overQuota reports whether a configured limit is reached (of a scope, an agent's
// memory or a session's queue), and not a limit of the cluster's load. It stays
// reached until the caller deletes data.
func overQuota(e *agent.Error) bool {
	return e.Limit != "" && !slices.ContainsFunc(loadLimits, func(limit string) bool { return strings.HasPrefix(e.Limit, limit+"=") })
}

// loadLimits are limits that give room again without a change of data or policy.
var loadLimits = []string{"request_window_max", "requests_per_second", "bytes_per_second", "watches_max"}

// classifyRead returns the reaction to a refused read.
func classifyRead(e *agent.Error) verdict {
	switch e.Code {
	case agent.CodeUnavailable, agent.CodeUnknown:
		return elsewhere
	case agent.CodeOverloaded:
		return again
	default:
		return settle
	}
}
