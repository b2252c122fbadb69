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
