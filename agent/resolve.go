package agent

import (
	"bytes"
)

// Resolved is an entry together with what was found out about it later. A
// journal only grows, so what comes true afterwards (a streamed message was
// committed, somebody annotated it) is an entry of its own that names the
// first one in refs.entry_id.
type Resolved struct {
	Entry
	FollowUps []Entry // in seq order
}

// Resolve folds follow-up facts into the entries that they speak of. An entry
// is a follow-up, whatever its kind, if its refs.entry_id is the id of an
// earlier entry among entries; one that speaks of a follow-up goes to where
// that one went. All others stand by themselves, in order: those too whose
// entry_id names nothing here, since it may be compacted or on another page.
func Resolve(entries []Entry) []Resolved {
	resolved := make([]Resolved, 0, len(entries))
	place := make(map[string]int, len(entries)) // entry id → place in resolved
	for _, e := range entries {
		at, follows := place[e.SpeaksOf()]
		if follows {
			resolved[at].FollowUps = append(resolved[at].FollowUps, e)
		} else {
			at = len(resolved)
			resolved = append(resolved, Resolved{Entry: e})
		}
		place[e.ID] = at
	}
	return resolved
}

// SpeaksOf is the id of the entry that e's refs.entry_id names, or "".
func (e Entry) SpeaksOf() string {
	if !bytes.Contains(e.Refs, []byte(RefEntryID)) {
		return ""
	}
	var id string
	err := members(e.Refs, func(rawName []byte, value JSON) error {
		if string(rawName) == `"`+RefEntryID+`"` && value[0] == '"' {
			plain, err := unquote(value)
			id = plain
			return err
		}
		return nil
	})
	if err != nil {
		return ""
	}
	return id
}
