package agent

import (
	"fmt"
	"slices"
	"strings"
)

// Recall asks for what an agent remembers. Mode says by which rule, and so
// which of the fields are needed; the filters hold in all modes.
type Recall struct {
	Agent     string
	Session   string       // "" means none
	Within    string       // one of the Within constants; "" means WithinAgent, and WithinAll in ModeQuery
	Mode      string       // one of the Mode constants; "" means ModeRecent
	Query     string       // needed by all modes but ModeQuery and ModeVector
	Embedding []float32    // needed by ModeVector and ModeHybrid: as long as those that the agent's memories have
	Limit     uint64       // 0 means RecallLimitDefault, in ModeQuery QueryLimitDefault; more than RecallLimitMax means that
	Filter    MemoryFilter // in all modes
	Ascending bool         // ModeQuery: oldest observation first, instead of newest
	Metadata  JSON         // handed back with the answer
}

// MemoryFilter keeps of some memories those that match all of it. Empty fields
// let everything through.
type MemoryFilter struct {
	Classes  []string // any of them
	Kinds    []string // any of them
	TagsAny  []string // at least one of them
	TagsAll  []string // each of them
	Contains string   // ModeQuery: in the content, or in the data where there is no content; any case
	Since    *int64   // observed at or after, Unix ms
	Until    *int64   // observed at or before
}

// The modes of a recall.
const (
	ModeRecent = "recent" // the last written first; the query has no effect (SEMANTICS §8.1)
	ModeQuery  = "query"  // by the filter, in order of observation (§8.2)
	ModeText   = "text"   // by the words of the query, best first: BM25
	ModeVector = "vector" // by the embedding, nearest first: cosine
	ModeHybrid = "hybrid" // by both, the ranks merged: reciprocal rank fusion
)

// RecallModes are all of them; the first is the default.
var RecallModes = []string{ModeRecent, ModeQuery, ModeText, ModeVector, ModeHybrid}

// Which sessions a recall looks at.
const (
	WithinAgent   = "agent"   // what belongs to no session, or to the one that is named
	WithinSession = "session" // what belongs to the session that is named; none named: what belongs to none
	WithinAll     = "all"     // whatever the session
)

// Filled is the recall with its defaults filled in, and its limit capped.
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

// Reaches tells whether the recall looks at memories of a session.
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

// Recalled answers Recall.
type Recalled struct {
	Request Recall // with the defaults filled in, and without its embedding
	Items   []RecalledMemory
	Entries uint64 // what the agent remembers in all
	Matched uint64 // how many of them matched: what Items are the first of
}

// RecalledMemory is a memory, and how well it matched.
type RecalledMemory struct {
	Memory Memory
	Score  float64 // the more the better, comparable within one answer; 0 in the modes that do not rank
}

// validate judges a recall as it stands once its defaults are filled in.
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

// validMode holds the fields to what the mode needs, and to what it heeds.
func (r *Recall) validMode() error {
	byText := r.Mode == ModeText || r.Mode == ModeHybrid
	byVector := r.Mode == ModeVector || r.Mode == ModeHybrid
	switch {
	case (byText || r.Mode == ModeRecent) && strings.TrimSpace(r.Query) == "":
		return Invalid("query", "mode %s needs a query: say what to look for, or use mode %s", r.Mode, ModeQuery)
	case byVector && len(r.Embedding) == 0:
		return Invalid("embedding", "mode %s needs the embedding of what to look for", r.Mode)
	case !byVector && len(r.Embedding) > 0:
		return Invalid("embedding", "mode %s looks at no embedding: use mode %s or %s", r.Mode, ModeVector, ModeHybrid)
	case r.Mode == ModeQuery && r.Query != "":
		return Invalid("query", "mode %s goes by fields: put the text into text_contains, or use mode %s", ModeQuery, ModeText)
	case r.Mode != ModeQuery && r.Filter.Contains != "":
		return Invalid("text_contains", "text_contains goes with mode %s alone", ModeQuery)
	case r.Mode != ModeQuery && r.Ascending:
		return Invalid("order", "order goes with mode %s alone", ModeQuery)
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

// validMetadata judges what is handed back as it came.
func validMetadata(raw JSON) error {
	if isNull(raw) {
		return nil
	}
	return settleMetadata(&raw)
}

func among(field, text string, known ...string) error {
	if !slices.Contains(known, text) {
		return Invalid(field, "%s = %q must be one of %s", field, text, strings.Join(known, ", "))
	}
	return nil
}
