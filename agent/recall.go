package agent

import (
	"fmt"
	"slices"
	"strings"

	"dormouse/internal/compactjson"
)

// Recall searches an agent's memories. Mode selects the ranking, and so the required
// fields; the filters apply in all modes.
type Recall struct {
	Agent     string
	Session   string       // "" means none
	Within    string       // one of the Within constants; "" means WithinAgent, and WithinAll in ModeQuery
	Mode      string       // one of the Mode constants; "" means ModeRecent
	Query     string       // required except in ModeQuery and ModeVector
	Embedding []float32    // required in ModeVector and ModeHybrid: with the dimensions of the agent's other embeddings
	Limit     uint64       // 0 means RecallLimitDefault, or QueryLimitDefault in ModeQuery; it is capped at RecallLimitMax
	Filter    MemoryFilter // in all modes
	Ascending bool         // ModeQuery: oldest observation first, instead of newest
	Metadata  JSON         // returned with the answer
}

// MemoryFilter selects the memories that match all of its fields. Empty fields match
// everything.
type MemoryFilter struct {
	Classes  []string // any of them
	Kinds    []string // any of them
	TagsAny  []string // at least one of them
	TagsAll  []string // each of them
	Contains string   // ModeQuery: in the content, or in the data if the content is empty; ignores case
	Since    *int64   // observed at or after, Unix ms
	Until    *int64   // observed at or before
}

// The modes of a recall.
const (
	ModeRecent = "recent" // last written first; the query has no effect (ME-4 in docs/semantics.md)
	ModeQuery  = "query"  // by the filter, in order of observation
	ModeText   = "text"   // by the words of the query, best first: BM25
	ModeVector = "vector" // by the embedding, nearest first: cosine
	ModeHybrid = "hybrid" // by both: reciprocal rank fusion
)

// RecallModes are all modes; the first is the default.
var RecallModes = []string{ModeRecent, ModeQuery, ModeText, ModeVector, ModeHybrid}

// The sessions that a recall searches.
const (
	WithinAgent   = "agent"   // memories of no session and of Session
	WithinSession = "session" // memories of Session; if it is "", those of no session
	WithinAll     = "all"     // memories of all sessions
)

// Filled returns the recall with its defaults filled in and its limit capped.
func (r Recall) Filled() Recall {
	if r.Mode == "" {
		r.Mode = ModeRecent
	}
	if r.Within == "" {
		r.Within = WithinAgent
		if r.Mode == ModeQuery {
			r.Within = WithinAll
		}
	}
	if r.Limit == 0 {
		r.Limit = RecallLimitDefault
		if r.Mode == ModeQuery {
			r.Limit = QueryLimitDefault
		}
	}
	r.Limit = min(r.Limit, RecallLimitMax)
	return r
}

// Reaches reports whether the recall searches the memories of a session.
func (r Recall) Reaches(session string) bool {
	switch r.Within {
	case WithinSession:
		return session == r.Session
	case WithinAll:
		return true
	default:
		return session == "" || session == r.Session
	}
}

// Recalled is the result of Recall.
type Recalled struct {
	Request Recall // with the defaults filled in, and without its embedding
	Items   []RecalledMemory
	Entries uint64 // number of the agent's memories
	Matched uint64 // number of memories that matched: Items are the first of them; in ModeRecent and ModeQuery, the number of Items
}

// RecalledMemory is a memory and its score.
type RecalledMemory struct {
	Memory Memory
	Score  float64 // higher is better, comparable within one answer; 0 in modes without ranking
}

// validate validates a recall with its defaults.
func (r *Recall) validate() error {
	if r.Session != "" {
		if err := ValidID("session_id", r.Session); err != nil {
			return err
		}
	}
	filled := r.Filled()
	if err := firstOf(
		ValidID("agent", r.Agent),
		among("mode", filled.Mode, RecallModes...),
		among("within", filled.Within, WithinAgent, WithinSession, WithinAll),
		validText("query", "recall_query_bytes_max", r.Query, RecallQueryBytesMax),
		ValidEmbedding("embedding", r.Embedding),
		filled.validMode(),
		r.Filter.validate(),
		validMetadata(r.Metadata),
	); err != nil {
		return err
	}
	return nil
}

// validMode returns an error if a field that the mode needs is missing, or one that it
// ignores is set.
func (r *Recall) validMode() error {
	byText := r.Mode == ModeText || r.Mode == ModeHybrid
	byVector := r.Mode == ModeVector || r.Mode == ModeHybrid
	switch {
	case (byText || r.Mode == ModeRecent) && strings.TrimSpace(r.Query) == "":
		return Invalid("query", "mode %s needs a query: give the words to search for, or use mode %s", r.Mode, ModeQuery)
	case byVector && len(r.Embedding) == 0:
		return Invalid("embedding", "mode %s needs the embedding of the query", r.Mode)
	case !byVector && len(r.Embedding) > 0:
		return Invalid("embedding", "mode %s ignores the embedding: leave it out, or use mode %s or %s", r.Mode, ModeVector, ModeHybrid)
	case r.Mode == ModeQuery && r.Query != "":
		return Invalid("query", "mode %s searches by fields: move the query to text_contains, or use mode %s", ModeQuery, ModeText)
	case r.Mode != ModeQuery && r.Filter.Contains != "":
		return Invalid("text_contains", "text_contains needs mode %s", ModeQuery)
	case r.Mode != ModeQuery && r.Ascending:
		return Invalid("order", "order needs mode %s", ModeQuery)
	}
	return nil
}

func (f *MemoryFilter) validate() error {
	for _, list := range []struct {
		field string
		texts []string
	}{{"classes", f.Classes}, {"kinds", f.Kinds}, {"tags_any", f.TagsAny}, {"tags_all", f.TagsAll}} {
		if len(list.texts) > MemoryTagsMax {
			return TooLarge(list.field, "memory_tags_max", len(list.texts), MemoryTagsMax)
		}
		for i, text := range list.texts {
			if err := validName(fmt.Sprintf("%s[%d]", list.field, i), "kind_bytes_max", text, KindBytesMax); err != nil {
				return err
			}
		}
	}
	for i, class := range f.Classes {
		if err := validClass(fmt.Sprintf("classes[%d]", i), class); err != nil {
			return err
		}
	}
	if f.Since != nil && f.Until != nil && *f.Since > *f.Until {
		return Invalid("since", "since = %d must not be after until = %d", *f.Since, *f.Until)
	}
	return validText("text_contains", "recall_query_bytes_max", f.Contains, RecallQueryBytesMax)
}

// validMetadata validates metadata that is returned unchanged.
func validMetadata(raw JSON) error {
	if compactjson.IsNull(raw) {
		return nil
	}
	return normalizeMetadata(&raw)
}

func among(field, text string, known ...string) error {
	if !slices.Contains(known, text) {
		return Invalid(field, "%s = %q must be one of %s", field, text, strings.Join(known, ", "))
	}
	return nil
}
