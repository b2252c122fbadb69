package rest

import (
	"net/http"
	"time"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/server/rest/web"
)

// Records of one page of the audit log.
const (
	auditLimitDefault = 100
	auditLimitMax     = 1000
)

func routeNode(f *web.API) {
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/settings", ID: "get-settings", Tag: "cluster",
		Summary: "The settings in force of this node", Answers: document.Settings{},
		Detail: "Secrets are in files, and not in settings.",
	}, callSettings)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/audit", ID: "list-audit-records", Tag: "cluster", Query: []string{"before_seq", "limit"},
		Summary: "The newest records of this node's audit log", Answers: document.AuditRecords{},
		Detail: "Each node records the calls that it served. The hash chain is not checked: dormctl audit verify does.",
	}, callAudit)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/log", ID: "get-log", Tag: "cluster",
		Summary: "The last lines of this node's log, at most 512 KiB", Media: "text/plain",
	}, callLog)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/state-sum", ID: "get-state-sum", Tag: "cluster",
		Summary: "A hash of all rows of this node, and of the rows of each kind", Answers: document.StateSum{},
		Detail: "Nodes that have applied the same log have equal hashes. The call reads all data of the node, which takes about a second a gigabyte: use it for diagnosis.",
	}, callStateSum)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/slow-calls", ID: "list-slow-calls", Tag: "cluster",
		Summary: "The last slow calls of this node, newest first, at most 128", Answers: document.SlowCalls{},
		Detail: "A call is slow if it takes at least as long as the setting log.slow_call. Calls of all scopes are listed.",
	}, callSlowCalls)
	web.Register(f, web.Route{
		Method: http.MethodGet, Path: "/v1/cluster/profile", ID: "get-profile", Tag: "cluster", Query: []string{"profile", "seconds"},
		Summary: "A profile of this node's process, in the format of pprof", Media: "application/octet-stream",
		Detail: "A CPU profile takes some seconds, 5 if absent, and one is taken at a time.",
	}, callProfile)
}

func callLog(c *web.Request, _ *web.None) error {
	if c.API.Options.Log == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no log in memory")
	}
	c.SendBytes("text/plain; charset=utf-8", c.API.Options.Log())
	return nil
}

func callStateSum(c *web.Request, _ *web.None) error {
	if c.API.Options.StateSum == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node has no state to hash")
	}
	sum, err := c.API.Options.StateSum(c.Context)
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.At(sum.Index)
	return c.Answer(web.Reply{Body: sum})
}

func callSlowCalls(c *web.Request, _ *web.None) error {
	calls := []document.SlowCall{}
	if c.API.Options.SlowCalls != nil {
		calls = append(calls, c.API.Options.SlowCalls()...)
	}
	return c.Answer(web.Reply{Body: document.SlowCalls{Node: c.API.Options.Node, Calls: calls}})
}

// Seconds of a CPU profile.
const (
	profileSecondsDefault = 5
	profileSecondsMax     = 60
)

// profileGrace is the time that a profile may take besides its seconds.
const profileGrace = 5 * time.Second

func callProfile(c *web.Request, _ *web.None) error {
	seconds := c.Number("seconds")
	if seconds == 0 {
		seconds = profileSecondsDefault
	}
	if seconds > profileSecondsMax {
		return agent.Invalid("seconds", "seconds = %d is above %d", seconds, profileSecondsMax)
	}
	kind := c.Text("profile")
	switch kind {
	case "":
		kind = "heap"
	case "heap", "goroutine", "cpu":
	default:
		return agent.Invalid("profile", "profile is %q, and should be heap, goroutine or cpu", kind)
	}
	if c.API.Options.Profile == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node takes no profiles")
	}
	c.NeedTime(time.Duration(seconds)*time.Second + profileGrace)
	body, err := c.API.Options.Profile(c.Context, kind, seconds)
	if err != nil {
		return web.ReadOutcome(err)
	}
	c.SendBytes("application/octet-stream", body)
	return nil
}

func callSettings(c *web.Request, _ *web.None) error {
	if c.API.Options.Settings == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node does not tell its settings")
	}
	return c.Answer(web.Reply{Body: document.Settings{Node: c.API.Options.Node, Settings: c.API.Options.Settings()}})
}

func callAudit(c *web.Request, _ *web.None) error {
	before, limit := c.Number("before_seq"), c.Number("limit")
	if limit == 0 {
		limit = auditLimitDefault
	}
	if limit > auditLimitMax {
		return agent.Invalid("limit", "limit = %d is above %d", limit, auditLimitMax)
	}
	if c.API.Options.AuditLog == nil {
		return agent.Errorf(agent.CodeUnavailable, "this node keeps no audit log: see audit.enabled")
	}
	records, next, err := c.API.Options.AuditLog(before, int(limit))
	if err != nil {
		return web.ReadOutcome(err)
	}
	out := document.AuditRecords{Node: c.API.Options.Node, Records: make([]document.JSON, len(records))}
	for i, record := range records {
		out.Records[i] = document.JSON(record)
	}
	if next != 0 {
		out.Next = &next
	}
	return c.Answer(web.Reply{Body: out})
}
