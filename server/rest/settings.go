package rest

import (
	"net/http"

	"dormouse/agent"
	"dormouse/api/document"
)

// Records of one page of the audit log.
const (
	auditLimitDefault = 100
	auditLimitMax     = 1000
)

func routeNode(f *api) {
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/settings", id: "get-settings", tag: "cluster",
		summary: "The settings in force of this node", answers: document.Settings{},
		detail: "Secrets are in files, and not in settings.",
	}, callSettings)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/audit", id: "list-audit-records", tag: "cluster", query: []string{"before_seq", "limit"},
		summary: "The newest records of this node's audit log", answers: document.AuditRecords{},
		detail: "Each node records the calls that it served. The hash chain is not checked: dormctl audit verify does.",
	}, callAudit)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/log", id: "get-log", tag: "cluster",
		summary: "The last lines of this node's log, at most 512 KiB", media: "text/plain",
	}, callLog)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/state-sum", id: "get-state-sum", tag: "cluster",
		summary: "A hash of all rows of this node, and of the rows of each kind", answers: document.StateSum{},
		detail: "Nodes that have applied the same log have equal hashes. The call reads all data of the node, which takes about a second a gigabyte: use it for diagnosis.",
	}, callStateSum)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/slow-calls", id: "list-slow-calls", tag: "cluster",
		summary: "The last slow calls of this node, newest first, at most 128", answers: document.SlowCalls{},
		detail: "A call is slow if it takes at least as long as the setting log.slow_call. Calls of all scopes are listed.",
	}, callSlowCalls)
	register(f, route{
		method: http.MethodGet, path: "/v1/cluster/profile", id: "get-profile", tag: "cluster", query: []string{"profile", "seconds"},
		summary: "A profile of this node's process, in the format of pprof", media: "application/octet-stream",
		detail: "A CPU profile takes some seconds, 5 if absent, and one is taken at a time.",
	}, callProfile)
}

func callLog(c *request, _ *none) error {
	if c.api.options.Log == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no log in memory")
	}
	c.sendBytes("text/plain; charset=utf-8", c.api.options.Log())
	return nil
}

func callStateSum(c *request, _ *none) error {
	if c.api.options.StateSum == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node has no state to hash")
	}
	sum, err := c.api.options.StateSum(c.ctx)
	if err != nil {
		return readOutcome(err)
	}
	c.at(sum.Index)
	return c.answer(reply{body: sum})
}

func callSlowCalls(c *request, _ *none) error {
	calls := []document.SlowCall{}
	if c.api.options.SlowCalls != nil {
		calls = append(calls, c.api.options.SlowCalls()...)
	}
	return c.answer(reply{body: document.SlowCalls{Node: c.api.options.Node, Calls: calls}})
}

// Seconds of a CPU profile.
const (
	profileSecondsDefault = 5
	profileSecondsMax     = 60
)

func callProfile(c *request, _ *none) error {
	seconds := c.number("seconds")
	if seconds == 0 {
		seconds = profileSecondsDefault
	}
	if seconds > profileSecondsMax {
		return agent.Invalid("seconds", "seconds = %d is above %d", seconds, profileSecondsMax)
	}
	kind := c.text("profile")
	switch kind {
	case "":
		kind = "heap"
	case "heap", "goroutine", "cpu":
	default:
		return agent.Invalid("profile", "profile is %q, and should be heap, goroutine or cpu", kind)
	}
	if c.api.options.Profile == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node takes no profiles")
	}
	body, err := c.api.options.Profile(c.ctx, kind, seconds)
	if err != nil {
		return readOutcome(err)
	}
	c.sendBytes("application/octet-stream", body)
	return nil
}

func callSettings(c *request, _ *none) error {
	if c.api.options.Settings == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node does not tell its settings")
	}
	return c.answer(reply{body: document.Settings{Node: c.api.options.Node, Settings: c.api.options.Settings()}})
}

func callAudit(c *request, _ *none) error {
	before, limit := c.number("before_seq"), c.number("limit")
	if limit == 0 {
		limit = auditLimitDefault
	}
	if limit > auditLimitMax {
		return agent.Invalid("limit", "limit = %d is above %d", limit, auditLimitMax)
	}
	if c.api.options.AuditLog == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no audit log: see audit.enabled")
	}
	records, next, err := c.api.options.AuditLog(before, int(limit))
	if err != nil {
		return readOutcome(err)
	}
	out := document.AuditRecords{Node: c.api.options.Node, Records: make([]document.JSON, len(records))}
	for i, record := range records {
		out.Records[i] = document.JSON(record)
	}
	if next != 0 {
		out.Next = &next
	}
	return c.answer(reply{body: out})
}
