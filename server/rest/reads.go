package rest

import (
	"net/http"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// readName is the member that says which read it is.
type readName struct {
	Read string `json:"read"`
}

// wireRead is one read as a caller writes it.
type wireRead interface{ read() agent.Read }

type keyRead struct {
	readName
	Key string `json:"key"`
}

type revisionRead struct {
	keyRead
	Revision uint64 `json:"revision,omitempty"`
}

type threadRead struct {
	readName
	Thread string `json:"thread"`
}

type pageRead struct {
	readName
	Prefix text   `json:"prefix,omitempty"`
	After  text   `json:"after,omitempty"`
	Limit  uint64 `json:"limit,omitempty"`
}

func (r pageRead) page() agent.Page {
	return agent.Page{Prefix: string(r.Prefix), After: string(r.After), Limit: r.Limit}
}

type (
	getValueRead          struct{ keyRead }
	checkpointHistoryRead struct{ keyRead }
	getCheckpointRead     struct{ revisionRead }
	getThreadRead         struct{ threadRead }
	verifyThreadRead      struct{ threadRead }
	listValuesRead        struct{ pageRead }
	listCheckpointsRead   struct{ pageRead }
	listThreadsRead       struct{ pageRead }
	listScopesRead        struct{ pageRead }
	listClaimsRead        struct{ pageRead }
	getScopeRead          struct{ readName }
	thawRead              struct {
		revisionRead
		Tail *uint64 `json:"tail,omitempty"`
	}
	getClaimRead struct {
		readName
		Claim string `json:"claim"`
	}
	getEntryRead struct {
		threadRead
		Entry string `json:"entry"`
	}
	loadEntriesRead struct {
		threadRead
		From  uint64   `json:"from,omitempty"`
		To    *uint64  `json:"to,omitempty"`
		Tail  uint64   `json:"tail,omitempty"`
		AtRev *uint64  `json:"at_rev,omitempty"`
		Kinds []string `json:"kinds,omitempty"`
		Limit uint64   `json:"limit,omitempty"`
	}
)

func (r getValueRead) read() agent.Read          { return &agent.GetValue{Key: r.Key} }
func (r checkpointHistoryRead) read() agent.Read { return &agent.CheckpointHistory{Key: r.Key} }
func (r getCheckpointRead) read() agent.Read {
	return &agent.GetCheckpoint{Key: r.Key, Revision: r.Revision}
}
func (r getThreadRead) read() agent.Read       { return &agent.GetThread{Thread: r.Thread} }
func (r verifyThreadRead) read() agent.Read    { return &agent.VerifyThread{Thread: r.Thread} }
func (r listValuesRead) read() agent.Read      { return &agent.ListValues{Page: r.page()} }
func (r listCheckpointsRead) read() agent.Read { return &agent.ListCheckpoints{Page: r.page()} }
func (r listThreadsRead) read() agent.Read     { return &agent.ListThreads{Page: r.page()} }
func (r listScopesRead) read() agent.Read      { return &agent.ListScopes{Page: r.page()} }
func (r listClaimsRead) read() agent.Read      { return &agent.ListClaims{Page: r.page()} }
func (r getClaimRead) read() agent.Read        { return &agent.GetClaim{Claim: r.Claim} }
func (getScopeRead) read() agent.Read          { return &agent.GetScope{} }
func (r thawRead) read() agent.Read {
	return &agent.Thaw{Key: r.Key, Revision: r.Revision, Tail: r.Tail}
}
func (r getEntryRead) read() agent.Read { return &agent.GetEntry{Thread: r.Thread, Entry: r.Entry} }
func (r loadEntriesRead) read() agent.Read {
	return &agent.LoadEntries{Thread: r.Thread, From: r.From, To: r.To, Tail: r.Tail, AtRev: r.AtRev, Kinds: r.Kinds, Limit: r.Limit}
}

// wireReads are the reads by name.
var wireReads = map[string]func() wireRead{
	"get_value":          func() wireRead { return new(getValueRead) },
	"list_values":        func() wireRead { return new(listValuesRead) },
	"get_checkpoint":     func() wireRead { return new(getCheckpointRead) },
	"list_checkpoints":   func() wireRead { return new(listCheckpointsRead) },
	"checkpoint_history": func() wireRead { return new(checkpointHistoryRead) },
	"get_thread":         func() wireRead { return new(getThreadRead) },
	"list_threads":       func() wireRead { return new(listThreadsRead) },
	"load_entries":       func() wireRead { return new(loadEntriesRead) },
	"get_entry":          func() wireRead { return new(getEntryRead) },
	"verify_thread":      func() wireRead { return new(verifyThreadRead) },
	"thaw":               func() wireRead { return new(thawRead) },
	"list_scopes":        func() wireRead { return new(listScopesRead) },
	"get_scope":          func() wireRead { return new(getScopeRead) },
	"get_claim":          func() wireRead { return new(getClaimRead) },
	"list_claims":        func() wireRead { return new(listClaimsRead) },
	"get_session":        func() wireRead { return new(getSessionRead) },
	"list_sessions":      func() wireRead { return new(listSessionsRead) },
	"get_review":         func() wireRead { return new(getReviewRead) },
	"list_reviews":       func() wireRead { return new(listReviewsRead) },
	"get_manager":        func() wireRead { return new(getManagerRead) },
	"list_managers":      func() wireRead { return new(listManagersRead) },
	"get_memory":         func() wireRead { return new(getMemoryRead) },
	"list_memories":      func() wireRead { return new(listMemoriesRead) },
	"recall":             func() wireRead { return new(recallRead) },
	"get_timer":          func() wireRead { return new(getTimerRead) },
	"list_timers":        func() wireRead { return new(listTimersRead) },
	"get_conversation":   func() wireRead { return new(getConversationRead) },
	"list_conversations": func() wireRead { return new(listConversationsRead) },
	"list_messages":      func() wireRead { return new(listMessagesRead) },
	"get_erasure":        func() wireRead { return new(getErasureRead) },
}

// readDocument is a read before its name is read.
type readDocument struct{ document }

// Schema is one of the reads.
func (readDocument) Schema(r huma.Registry) *huma.Schema { return oneOf(r, "read", wireReads) }

// readsBody asks several things at one index.
type readsBody struct {
	Reads []readDocument `json:"reads" nullable:"false"`
}

// answered answers several reads.
type answered struct {
	Index   uint64       `json:"index" doc:"The log index that all answers are of"`
	Answers []wireAnswer `json:"answers" nullable:"false" doc:"One a read, in order"`
}

// wireAnswer is what came of one read: one of found and error.
type wireAnswer struct {
	Found *wireFound `json:"found,omitempty"`
	Error *problem   `json:"error,omitempty"`
}

// wireFound is what the call of its own would answer.
type wireFound struct{ body any }

// MarshalJSONTo writes the body alone.
func (w wireFound) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, w.body)
}

// Schema is that of anything found.
func (wireFound) Schema(r huma.Registry) *huma.Schema {
	return anyOf(r, value{}, list[valueRow]{}, checkpoint{}, list[checkpointRow]{}, thread{}, list[thread]{},
		entryPage{}, entry{}, verified{}, thawed{}, list[scope]{}, scope{}, claim{}, list[claim]{},
		session{}, list[sessionRow]{}, review{}, list[review]{}, memory{}, list[memory]{}, recalled{}, erasure{}, timer{}, list[timer]{},
		savedConversation{}, list[conversationRow]{}, messagePage{}, manager{}, list[manager]{})
}

// wireFoundOf writes what a read found.
func wireFoundOf(found agent.Found) (any, error) {
	switch f := found.(type) {
	case *agent.Value:
		return valueOf(f), nil
	case *agent.ValueList:
		return listOf(f.Items, f.Next, valueRowOf), nil
	case *agent.Checkpoint:
		return checkpointOf(f), nil
	case *agent.CheckpointList:
		return listOf(f.Items, f.Next, checkpointRowOf), nil
	case *agent.Thread:
		return threadOf(*f), nil
	case *agent.ThreadList:
		return listOf(f.Items, f.Next, threadOf), nil
	case *agent.Entries:
		return entryPageOf(f), nil
	case *agent.Entry:
		return entryOf(*f), nil
	case *agent.Verified:
		return verifiedOf(f), nil
	case *agent.Thawed:
		return thawedOf(f), nil
	case *agent.ScopeList:
		return listOf(f.Items, f.Next, scopeOf), nil
	case *agent.Scope:
		return scopeOf(*f), nil
	case *agent.Claim:
		return claimOf(*f), nil
	case *agent.ClaimList:
		return listOf(f.Items, f.Next, claimOf), nil
	case *agent.Session:
		return sessionOf(f), nil
	case *agent.SessionList:
		return listOf(f.Items, f.Next, sessionRowOf), nil
	case *agent.Review:
		return reviewOf(*f), nil
	case *agent.ReviewList:
		return listOf(f.Items, f.Next, reviewOf), nil
	case *agent.Manager:
		return managerOf(*f), nil
	case *agent.ManagerList:
		return listOf(f.Items, f.Next, managerOf), nil
	case *agent.Memory:
		return memoryOf(*f), nil
	case *agent.MemoryList:
		return listOf(f.Items, f.Next, memoryOf), nil
	case *agent.Recalled:
		return recalledOf(f), nil
	case *agent.Timer:
		return timerOf(*f), nil
	case *agent.TimerList:
		return listOf(f.Items, f.Next, timerOf), nil
	case *agent.SavedConversation:
		return savedConversationOf(f), nil
	case *agent.ConversationList:
		return listOf(f.Items, f.Next, conversationRowOf), nil
	case *agent.MessageList:
		return messagePageOf(f), nil
	case *agent.Erasure:
		return erasureOf(f), nil
	default:
		return nil, agent.Errorf(agent.CodeInternal, "a read found a %T", found)
	}
}

func (f *front) routeReads() {
	register(f, route{
		method: http.MethodPost, path: "/v1/reads", id: "read", tag: "commits",
		summary: "Answer several reads at one index",
		effect:  reads, bodyNeeded: true, numbered: true, answers: answered{},
	}, (*call).readSeveral)
}

func (c *call) readSeveral(body *readsBody) error {
	if len(body.Reads) > agent.ReadsMax {
		return agent.TooLarge("reads", "reads_max", len(body.Reads), agent.ReadsMax)
	}
	asked := make([]agent.Read, len(body.Reads))
	for i, raw := range body.Reads {
		wire, err := decodeNamed(raw.document, "read", func(n readName) string { return n.Read }, wireReads)
		if err != nil {
			return numbered(err, i)
		}
		asked[i] = wire.read()
	}
	answers, err := c.readAll(asked...)
	if err != nil {
		return err
	}
	out := answered{Index: answers.Index, Answers: make([]wireAnswer, len(asked))}
	for i, each := range answers.Answers {
		if each.Err != nil {
			refusal := problemOf(each.Err)
			out.Answers[i].Error = &refusal
			continue
		}
		found, err := wireFoundOf(each.Found)
		if err != nil {
			return err
		}
		out.Answers[i].Found = &wireFound{found}
	}
	return c.answer(reply{body: out})
}
