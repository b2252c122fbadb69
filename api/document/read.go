package document

import (
	"maps"
	"reflect"
	"slices"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// readName is the member that names the read.
type readName struct {
	Read string `json:"read"`
}

// wireRead is one read in a request.
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
	Prefix strictjson.Text `json:"prefix,omitempty"`
	After  strictjson.Text `json:"after,omitempty"`
	Limit  uint64          `json:"limit,omitempty"`
}

func (r pageRead) page() agent.Page {
	return agent.Page{Prefix: string(r.Prefix), After: string(r.After), Limit: r.Limit}
}

// orderedRead is a page of a list in the order of keys.
type orderedRead struct {
	pageRead
	Order agent.Order `json:"order,omitempty" enum:"asc,desc" doc:"asc if absent; after is the next value of the previous page in both"`
}

func (r orderedRead) page() agent.Page {
	p := r.pageRead.page()
	p.Order = r.Order
	return p
}

// timesRead selects by a time.
type timesRead struct {
	Since int64 `json:"since,omitempty" doc:"Unix ms: this time or later. A page may be empty although it has a next"`
	Until int64 `json:"until,omitempty" doc:"Unix ms: earlier than this time"`
}

func (r timesRead) times() agent.Times { return agent.Times{Since: r.Since, Until: r.Until} }

// rowsRead is a page of a list in the order of keys, whose rows have a time.
type rowsRead struct {
	orderedRead
	timesRead
}

func (r rowsRead) page() agent.Page {
	p := r.orderedRead.page()
	p.Times = r.times()
	return p
}

// whereRead selects rows by their metadata.
type whereRead struct {
	Metadata map[string]string `json:"metadata,omitempty" doc:"Only those whose metadata has these members; the scope must have declared the keys"`
}

func (r whereRead) where() (w agent.Where) {
	for _, key := range slices.Sorted(maps.Keys(r.Metadata)) {
		w = append(w, agent.MetadataEquals{Key: key, Value: r.Metadata[key]})
	}
	return w
}

// bodiesRead is a page of a list whose rows may show their bodies.
type bodiesRead struct {
	rowsRead
	whereRead
	Body bool `json:"body,omitempty" doc:"With the body of each"`
}

type (
	getValueRead          struct{ keyRead }
	checkpointHistoryRead struct{ keyRead }
	getCheckpointRead     struct{ revisionRead }
	getThreadRead         struct{ threadRead }
	verifyThreadRead      struct{ threadRead }
	listValuesRead        struct{ bodiesRead }
	listCheckpointsRead   struct{ bodiesRead }
	listThreadsRead       struct{ rowsRead }
	listScopesRead        struct{ orderedRead }
	listClaimsRead        struct{ orderedRead }
	getScopeRead          struct {
		readName
		Default bool `json:"default" required:"false" doc:"Read the policy of all scopes that have none of their own"`
	}
	thawRead struct {
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

		Order agent.Order `json:"order,omitempty" enum:"asc,desc" doc:"asc if absent; in desc, next is the to of the next page"`
		timesRead
	}
)

func (r getValueRead) read() agent.Read          { return &agent.GetValue{Key: r.Key} }
func (r checkpointHistoryRead) read() agent.Read { return &agent.CheckpointHistory{Key: r.Key} }

func (r getCheckpointRead) read() agent.Read {
	return &agent.GetCheckpoint{Key: r.Key, Revision: r.Revision}
}

func (r getThreadRead) read() agent.Read    { return &agent.GetThread{Thread: r.Thread} }
func (r verifyThreadRead) read() agent.Read { return &agent.VerifyThread{Thread: r.Thread} }
func (r listValuesRead) read() agent.Read {
	return &agent.ListValues{Page: r.page(), Body: r.Body, Where: r.where()}
}

func (r listCheckpointsRead) read() agent.Read {
	return &agent.ListCheckpoints{Page: r.page(), Body: r.Body, Where: r.where()}
}

func (r listThreadsRead) read() agent.Read { return &agent.ListThreads{Page: r.page()} }
func (r listScopesRead) read() agent.Read  { return &agent.ListScopes{Page: r.page()} }
func (r listClaimsRead) read() agent.Read  { return &agent.ListClaims{Page: r.page()} }
func (r getClaimRead) read() agent.Read    { return &agent.GetClaim{Claim: r.Claim} }
func (r getScopeRead) read() agent.Read    { return &agent.GetScope{Default: r.Default} }

func (r thawRead) read() agent.Read {
	return &agent.Thaw{Key: r.Key, Revision: r.Revision, Tail: r.Tail}
}

func (r getEntryRead) read() agent.Read { return &agent.GetEntry{Thread: r.Thread, Entry: r.Entry} }

func (r loadEntriesRead) read() agent.Read {
	return &agent.LoadEntries{
		Thread: r.Thread, From: r.From, To: r.To, Tail: r.Tail, AtRev: r.AtRev, Kinds: r.Kinds, Limit: r.Limit, Order: r.Order, Times: r.times(),
	}
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
	"get_token":          func() wireRead { return new(getTokenRead) },
	"list_tokens":        func() wireRead { return new(listTokensRead) },
	"get_erasure":        func() wireRead { return new(getErasureRead) },
	"get_deletion":       func() wireRead { return new(getDeletionRead) },
	"list_deletions":     func() wireRead { return new(listDeletionsRead) },
}

// ReadTypes returns the types of the documents of all reads, by name.
func ReadTypes() map[string]reflect.Type { return typesOf(wireReads) }

// ReadDocument is a read before its name is read.
type ReadDocument struct{ JSON }

// ReadsBody holds several reads at one index.
type ReadsBody struct {
	Reads []ReadDocument `json:"reads" nullable:"false"`

	names []string // of the reads, in order; set by ToReads
}

// ToReads returns the reads; an error has the index of its read.
func (b *ReadsBody) ToReads() ([]agent.Read, error) {
	if len(b.Reads) > agent.ReadsMax {
		return nil, agent.TooLarge("reads", "reads_max", len(b.Reads), agent.ReadsMax)
	}
	asked := make([]agent.Read, len(b.Reads))
	b.names = make([]string, len(b.Reads))
	for i, raw := range b.Reads {
		name, read, err := decodeNamed(raw.JSON, "read", func(n readName) string { return n.Read }, wireReads)
		if err != nil {
			return nil, numbered(err, i)
		}
		asked[i], b.names[i] = read.read(), name
	}
	return asked, nil
}

// Answered is the result of several reads.
type Answered struct {
	Index   uint64       `json:"index" doc:"The log index of all answers"`
	Answers []wireAnswer `json:"answers" nullable:"false" doc:"One for each read, in order"`
}

// Answered returns the document of the answers to the reads that ToReads returned.
func (b *ReadsBody) Answered(a agent.Answers) (Answered, error) {
	out := Answered{Index: a.Index, Answers: make([]wireAnswer, len(a.Answers))}
	if len(a.Answers) != len(b.names) {
		return Answered{}, agent.Errorf(agent.CodeInternal, "%d reads have %d answers", len(b.names), len(a.Answers))
	}
	for i, each := range a.Answers {
		out.Answers[i].Read = b.names[i]
		if each.Err != nil {
			refusal := ProblemOf(each.Err)
			out.Answers[i].Error = &refusal
			continue
		}
		found, err := founds.documentOf(each.Found)
		if err != nil {
			return Answered{}, err
		}
		out.Answers[i].Found = &WireFound{found}
	}
	return out, nil
}

// wireAnswer is the result of one read: either found or error.
type wireAnswer struct {
	Read  string     `json:"read" doc:"The name of the read"`
	Found *WireFound `json:"found,omitempty"`
	Error *Problem   `json:"error,omitempty"`
}

// AnswerType is the type of the answer to one read.
var AnswerType = reflect.TypeFor[wireAnswer]()

// WireFound is the document that the read's own call would return.
type WireFound struct{ body any }

// MarshalJSONTo writes the body only.
func (w WireFound) MarshalJSONTo(enc *jsontext.Encoder) error {
	return json.MarshalEncode(enc, w.body)
}
