package client

import (
	"strings"

	"dormouse/agent"
)

// verdict is what to do about an attempt that was refused.
type verdict int

const (
	settle    verdict = iota // tell the caller
	again                    // a little later
	elsewhere                // a little later, on another node
)

// judgeCommit decides about a refused attempt at a commit. undecided says
// whether an attempt, this or an earlier one, may have been applied: then only
// an answer from the log settles the commit, since a refusal ahead of the log
// speaks for its own attempt alone.
func judgeCommit(e *agent.Error, before bool) (v verdict, undecided bool) {
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
	default: // refused at the door; or internal, which the caller must take for undecided anyway
		return settle, false
	}
}

// overQuota tells what is full by somebody's own setting (a scope, an agent's
// memory, a session's queue) from a cluster with too much in hand: it stays so
// until something goes, which is the caller's to arrange.
func overQuota(e *agent.Error) bool {
	return e.Limit != "" && !strings.HasPrefix(e.Limit, "request_window_max=")
}

// judgeRead decides about a refused read.
func judgeRead(e *agent.Error) verdict {
	switch e.Code {
	case agent.CodeUnavailable, agent.CodeUnknown:
		return elsewhere
	case agent.CodeOverloaded:
		return again
	default:
		return settle
	}
}
