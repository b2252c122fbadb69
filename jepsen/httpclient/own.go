package httpclient

import (
	"net/http"
	"net/url"

	"dormouse/agent"
)

// own is the call of one op: where its body goes, and what its answer is read into.
type own struct {
	method, path string
	without      []string // members of the op's document that the path has
	result       agent.OpResult
	into         any          // the part of result that the answer is; nil means all
	at           func() int64 // the log's time in the result; nil means that the answer has none
}

// ownFormedCall returns the call of an op that is a form, unless it has none or its answer lacks a part
// of the result.
func ownFormedCall(op agent.Op, body members) *commitCall {
	o := ownTurn(op)
	if o == nil {
		o = ownOther(op)
	}
	if o == nil {
		return nil
	}
	for _, name := range o.without {
		delete(body, name)
	}
	if end, is := op.(*agent.CommitSession); is {
		body = endOf(end, body)
	}
	into := o.into
	if into == nil {
		into = o.result
	}
	return &commitCall{
		request: request{method: o.method, path: o.path, media: mediaJSON, body: encode(body)},
		result: one(func(raw []byte) (agent.OpResult, int64, error) {
			err := unform(raw, into)
			time := int64(0)
			if o.at != nil {
				time = o.at()
			}
			return o.result, time, err
		}),
	}
}

// endOf returns the body of the call that ends a turn, in which an object of its own has how it ended.
func endOf(end *agent.CommitSession, document members) members {
	body := members{"session": document}
	set(body, "lease_id", end.LeaseID)
	set(body, "owner_id", end.Owner)
	if reviews, there := document["reviews"]; there {
		body["reviews"] = reviews
	}
	for name := range body {
		if name != "session" {
			delete(document, name)
		}
	}
	return body
}

// ownTurn returns the call of an op on a session.
func ownTurn(op agent.Op) *own {
	r := &agent.SessionResult{}
	at := func() int64 { return r.Session.UpdatedAt }
	on := func(session, verb string) *own {
		return &own{
			method: http.MethodPost, path: "/v1/sessions/" + url.PathEscape(session) + "/" + verb, without: []string{"session"}, result: r, at: at,
		}
	}
	switch op := op.(type) {
	case *agent.PutSession:
		o := on(op.Session, "")
		o.method, o.path, o.into = http.MethodPut, "/v1/sessions/"+url.PathEscape(op.Session), &r.Session
		return o
	case *agent.ForkSession:
		o := on(op.Session, "fork")
		o.into = &r.Session
		return o
	case *agent.ClaimSession:
		return on(op.Session, "claim")
	case *agent.ResumeSession:
		return on(op.Session, "claim_resume")
	case *agent.RecoverSession:
		return on(op.Session, "recover")
	case *agent.CheckpointSession:
		return on(op.Session, "checkpoint")
	case *agent.CommitSession:
		return on(op.Session, "commit")
	case *agent.RenewSession:
		return on(op.Session, "renew")
	default:
		return nil
	}
}

// ownOther returns the call of an op on another object.
func ownOther(op agent.Op) *own {
	switch op := op.(type) {
	case *agent.DecideReview:
		return &own{method: http.MethodPost, path: "/v1/reviews/" + url.PathEscape(op.Review) + "/decide", without: []string{"review"}, result: &agent.ReviewResult{}}
	case *agent.TakeClaim:
		return ownOfClaim(op.Claim, "")
	case *agent.RenewClaim:
		return ownOfClaim(op.Claim, "/renew")
	case *agent.ReleaseClaim:
		return ownOfClaim(op.Claim, "/release")
	case *agent.WriteMemory:
		r := &agent.MemoryResult{}
		o := &own{method: http.MethodPut, without: []string{"agent_id", "id"}, result: r, at: func() int64 { return r.UpdatedAt }}
		o.path = "/v1/memory/" + url.PathEscape(op.Agent) + "/" + url.PathEscape(op.ID)
		if op.ID == "" {
			return nil
		}
		return o
	case *agent.PutTimer:
		r, t := &agent.TimerResult{}, op.Timer
		return &own{
			method: http.MethodPut, path: instancePath(t.Manager, t.Key) + "/timers/" + url.PathEscape(t.ID), without: []string{"manager", "key", "timer"},
			result: r, at: func() int64 { return r.Timer.UpdatedAt },
		}
	case *agent.PutToken:
		r := &agent.TokenResult{}
		return &own{method: http.MethodPost, path: "/v1/tokens", result: r, at: func() int64 { return r.Token.CreatedAt }}
	case *agent.PutManager:
		r := &agent.ManagerResult{}
		return &own{method: http.MethodPut, path: "/v1/managers/" + url.PathEscape(op.Manager.Name), without: []string{"name"}, result: r, at: func() int64 { return r.Manager.UpdatedAt }}
	case *agent.SaveConversation:
		r := &agent.ConversationResult{}
		return &own{
			method: http.MethodPut, path: conversationPath(op.ID), without: []string{"conversation_id"},
			result: r, into: &r.Conversation, at: func() int64 { return r.Conversation.UpdatedAt },
		}
	case *agent.SaveMessages:
		return ownOfConversation(op.ID, "messages")
	case *agent.PendMessage:
		return ownOfConversation(op.ID, "pending")
	default:
		return nil
	}
}

func ownOfClaim(name, verb string) *own {
	return &own{method: http.MethodPost, path: "/v1/claims/" + url.PathEscape(name) + verb, without: []string{"claim"}, result: &agent.ClaimResult{}}
}

func ownOfConversation(id, noun string) *own {
	r := &agent.ConversationResult{}
	return &own{
		method: http.MethodPost, path: conversationPath(id) + "/" + noun, without: []string{"conversation_id"},
		result: r, at: func() int64 { return r.Conversation.UpdatedAt },
	}
}

func conversationPath(id string) string { return "/v1/conversations/" + url.PathEscape(id) }

// instancePath returns the path of an instance.
func instancePath(manager, key string) string {
	return "/v1/managers/" + url.PathEscape(manager) + "/instances/" + url.PathEscape(key)
}
