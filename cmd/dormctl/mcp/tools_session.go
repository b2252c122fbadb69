package mcp

import (
	"context"
	"encoding/json"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
	"dormouse/api/document"
)

type listSessions struct {
	listPage
	Status string `json:"status,omitempty" jsonschema:"only sessions of this status; at most one of status, owner and agent"`
	Owner  string `json:"owner,omitempty" jsonschema:"only sessions whose lease this worker has or had"`
	Agent  string `json:"agent,omitempty" jsonschema:"only sessions of this agent"`
}

type oneSession struct {
	Session string `json:"session" jsonschema:"the id of the session"`
}

type listReviews struct {
	After    string `json:"after,omitempty" jsonschema:"next of the page before"`
	Limit    uint64 `json:"limit,omitempty" jsonschema:"at most this many"`
	Status   string `json:"status,omitempty" jsonschema:"pending, if absent"`
	Assignee string `json:"assignee,omitempty" jsonschema:"only reviews of this assignee"`
	Session  string `json:"session,omitempty" jsonschema:"only reviews of this session, of any status"`
}

type decideReview struct {
	Review    string          `json:"review" jsonschema:"the id of the review"`
	Decision  string          `json:"decision" jsonschema:"approve, deny or edit"`
	By        string          `json:"by" jsonschema:"who decides"`
	Note      string          `json:"note,omitempty"`
	Arguments json.RawMessage `json:"arguments,omitempty" jsonschema:"of an edit: an object, the arguments to call the operation with instead"`
}

func (s store) addSessionTools(server *sdk.Server) {
	add(server, looks(), "session_list", "List sessions",
		"List sessions: all, or those of a status, an owner or an agent.", s.listSessions)
	add(server, looks(), "session_get", "Read a session",
		"Read a session: its status, requests, lease and what it waits for.", s.getSession)
	add(server, looks(), "review_list", "List reviews",
		"List what waits for a human decision, the earliest deadline first.", s.listReviews)
	add(server, changes(), "review_decide", "Decide a review",
		"Approve, deny or edit what a session waits for. A review is decided once.", s.decideReview)
}

func (s store) listSessions(ctx context.Context, in listSessions) (any, error) {
	found, err := find[*agent.SessionList](ctx, s, &agent.ListSessions{
		Page: in.page(), Status: agent.SessionStatus(in.Status), Owner: in.Owner, Agent: in.Agent,
	})
	if err != nil {
		return nil, err
	}
	return document.ListOf(found.Items, found.Next, document.SessionRowOf), nil
}

func (s store) getSession(ctx context.Context, in oneSession) (any, error) {
	found, err := find[*agent.Session](ctx, s, &agent.GetSession{Session: in.Session})
	if err != nil {
		return nil, err
	}
	return document.SessionOf(found), nil
}

func (s store) listReviews(ctx context.Context, in listReviews) (any, error) {
	found, err := find[*agent.ReviewList](ctx, s, &agent.ListReviews{
		Page: agent.Page{After: in.After, Limit: in.Limit}, Status: agent.ReviewStatus(in.Status), Assignee: in.Assignee, Session: in.Session,
	})
	if err != nil {
		return nil, err
	}
	return document.ListOf(found.Items, found.Next, document.ReviewOf), nil
}

func (s store) decideReview(ctx context.Context, in decideReview) (any, error) {
	decided, err := commit[*agent.ReviewResult](ctx, s, &agent.DecideReview{
		Review: in.Review, Decision: agent.ReviewDecision(in.Decision), By: in.By, Note: in.Note, Arguments: agent.JSON(in.Arguments),
	})
	if err != nil {
		return nil, err
	}
	return document.ReviewOf(decided.Review), nil
}
