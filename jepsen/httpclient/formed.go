package httpclient

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"reflect"

	"dormouse/agent"
)

// formedResults make the results of the ops whose document and whose result are forms, by the
// ops' names.
var formedResults = map[string]func() agent.OpResult{
	"put_session": sessionResult, "claim_session": sessionResult, "resume_session": sessionResult, "recover_session": sessionResult,
	"checkpoint_session": sessionResult, "commit_session": sessionResult, "renew_session": sessionResult, "cancel_session": sessionResult,
	"fork_session": sessionResult,
	"take_claim":   claimResult, "renew_claim": claimResult, "release_claim": claimResult,
	"put_scope": scopeResult, "index_metadata": scopeResult,
	"decide_review":     func() agent.OpResult { return new(agent.ReviewResult) },
	"erase_agent":       func() agent.OpResult { return new(agent.Erasure) },
	"write_memory":      func() agent.OpResult { return new(agent.MemoryResult) },
	"put_manager":       func() agent.OpResult { return new(agent.ManagerResult) },
	"put_timer":         func() agent.OpResult { return new(agent.TimerResult) },
	"put_token":         func() agent.OpResult { return new(agent.TokenResult) },
	"save_conversation": conversationResult, "save_messages": conversationResult, "pend_message": conversationResult,
}

func claimResult() agent.OpResult        { return new(agent.ClaimResult) }
func scopeResult() agent.OpResult        { return new(agent.ScopeResult) }
func sessionResult() agent.OpResult      { return new(agent.SessionResult) }
func conversationResult() agent.OpResult { return new(agent.ConversationResult) }

// otherResults are the ops whose document is a form, and whose result is not.
var otherResults = map[string]bool{
	"fork_thread": true, "delete_session": true, "delete_memory": true, "delete_timer": true, "delete_scope": true, "revoke_token": true,
}

// formedOp returns the document of an op that is a form.
func formedOp(op agent.Op) (members, error) {
	name := snake(reflect.TypeOf(op).Elem().Name())
	if formedResults[name] == nil && !otherResults[name] {
		return nil, fmt.Errorf("this HTTP client has no %T", op)
	}
	m := formed(op)
	m["op"] = name
	switch op := op.(type) {
	case *agent.PutTimer:
		m["timer"] = op.Timer.ID
		delete(m, "id")
		delete(m, "next")
		set(m, "at", op.Timer.Next)
	case *agent.PutManager:
		delete(m, "untracked")
		if op.Manager.Track || op.Manager.Untracked {
			m["track"] = op.Manager.Track
		}
	case *agent.PutToken:
		m["hash"] = hex.EncodeToString(op.Hash[:])
	case *agent.CheckpointSession: // never left out
		m["snapshot"] = formed(op.Snapshot)
	default:
	}
	return m, nil
}

func formedResult(op string, raw json.RawMessage) (agent.OpResult, error) {
	fresh := formedResults[op]
	if fresh == nil {
		return nil, fmt.Errorf("it is of an op %q, which was not sent", op)
	}
	result := fresh()
	return result, unform(raw, result)
}

// formedFounds make what the reads find whose documents are forms, by the reads' names.
var formedFounds = map[string]func() agent.Found{
	"get_claim":        func() agent.Found { return new(agent.Claim) },
	"get_scope":        func() agent.Found { return new(agent.Scope) },
	"get_session":      func() agent.Found { return new(agent.Session) },
	"list_sessions":    func() agent.Found { return new(agent.SessionList) },
	"get_review":       func() agent.Found { return new(agent.Review) },
	"list_reviews":     func() agent.Found { return new(agent.ReviewList) },
	"get_erasure":      func() agent.Found { return new(agent.Erasure) },
	"get_memory":       func() agent.Found { return new(agent.Memory) },
	"list_memories":    func() agent.Found { return new(agent.MemoryList) },
	"recall":           func() agent.Found { return new(agent.Recalled) },
	"list_timers":      func() agent.Found { return new(agent.TimerList) },
	"list_threads":     func() agent.Found { return new(agent.ThreadList) },
	"get_conversation": func() agent.Found { return new(agent.SavedConversation) },
	"list_messages":    func() agent.Found { return new(agent.MessageList) },
}

// formedRead returns the document of a read that is a form.
func formedRead(r agent.Read) (members, error) {
	name := snake(reflect.TypeOf(r).Elem().Name())
	if formedFounds[name] == nil {
		return nil, fmt.Errorf("this HTTP client has no %T", r)
	}
	m := formed(r)
	m["read"] = name
	if asked, is := r.(*agent.Recall); is && asked.Ascending {
		delete(m, "ascending")
		m["order"] = string(agent.Ascending)
	}
	return m, nil
}

// formedFound returns how the document that a read found becomes what it found.
func formedFound(read string) func(raw []byte) (agent.Found, error) {
	return func(raw []byte) (agent.Found, error) {
		fresh := formedFounds[read]
		if fresh == nil {
			return nil, fmt.Errorf("it is of a read %q, which was not sent", read)
		}
		found := fresh()
		if err := unform(raw, found); err != nil {
			return nil, err
		}
		if recalled, is := found.(*agent.Recalled); is {
			return found, counted(raw, recalled)
		}
		return found, nil
	}
}

// counted adds what the metadata of a recall's answer counts.
func counted(raw []byte, into *agent.Recalled) error {
	var d struct {
		Request struct {
			Order agent.Order `json:"order"`
		} `json:"request"`
		Metadata struct {
			Entries uint64 `json:"entries"`
			Matched uint64 `json:"matched"`
		} `json:"metadata"`
	}
	err := json.Unmarshal(raw, &d)
	into.Entries, into.Matched, into.Request.Ascending = d.Metadata.Entries, d.Metadata.Matched, d.Request.Order == agent.Ascending
	return err
}

// ownFormed returns the path of a read that is a form and has a call of its own without a body
// and a query.
func ownFormed(r agent.Read) (path string, decode func([]byte) (agent.Found, error)) {
	switch r := r.(type) {
	case *agent.GetSession:
		return "/v1/sessions/" + url.PathEscape(r.Session), found("get_session")
	case *agent.GetReview:
		return "/v1/reviews/" + url.PathEscape(r.Review), found("get_review")
	case *agent.GetErasure:
		return "/v1/agents/" + url.PathEscape(r.Agent) + "/erasure", found("get_erasure")
	case *agent.GetMemory:
		return "/v1/memory/" + url.PathEscape(r.Agent) + "/" + url.PathEscape(r.ID), found("get_memory")
	default:
		return "", nil
	}
}
