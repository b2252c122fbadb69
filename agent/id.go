package agent

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"dormouse/internal/compactjson"
)

// ValidID returns an error if an id or scope is invalid. It must be a valid key without
// control and bidirectional formatting characters, which make an id look like another.
// The error is an *Error that names field.
func ValidID(field, id string) error {
	if err := ValidKey(field, id); err != nil {
		return err
	}
	if i := strings.IndexFunc(id, hidden); i >= 0 {
		r, _ := utf8.DecodeRuneInString(id[i:])
		return Invalid(field, "%s must not hold the control or bidirectional formatting character %U: remove it", field, r)
	}
	return nil
}

// ValidKey returns an error if the key of a checkpoint or value is invalid. It must be 1
// to IDBytesMax bytes of UTF-8 without NUL, and neither "." nor "..". The error is an
// *Error that names field. The state machine applies this rule to ids too, and must go on
// to do so: all nodes of a cluster refuse the same entries, whatever their version.
func ValidKey(field, key string) error {
	switch {
	case key == "":
		return Invalid(field, "%s is missing: give 1 to %d bytes of UTF-8", field, IDBytesMax)
	case len(key) > IDBytesMax:
		return TooLarge(field, "id_bytes_max", len(key), IDBytesMax)
	case key == "." || key == "..":
		return Invalid(field, "%s must not be %q: choose another", field, key)
	case strings.IndexByte(key, 0) >= 0:
		return Invalid(field, "%s must not hold a NUL byte: remove it", field)
	case !utf8.ValidString(key):
		return Invalid(field, "%s is not UTF-8: encode it, for example as base64", field)
	}
	return nil
}

// hidden reports whether a character is not shown, or changes how the others are shown.
func hidden(r rune) bool {
	if r < unicode.MaxASCII { // all but DEL
		return r < ' '
	}
	return unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Bidi_Control, r)
}

// generatedPrefix begins every generated entry id; callers may use it too.
const generatedPrefix = "entry_"

// generatedID returns the id of an entry that was appended without one. It is unique:
// incarnations are never reused, and neither are seqs within one.
func generatedID(incarnation, seq uint64) string {
	return generatedName(generatedPrefix, incarnation, seq)
}

// AppendGeneratedID appends the id that an entry without one gets at seq of an incarnation.
func AppendGeneratedID(to []byte, incarnation, seq uint64) []byte {
	return appendName(to, generatedPrefix, incarnation, seq)
}

// GeneratedID returns the parts of a generated entry id, so that the entry is found by
// its seq, without an index. An id of that form may still be a caller's own.
func GeneratedID(id string) (incarnation, seq uint64, ok bool) {
	return generatedParts(generatedPrefix, id)
}

func generatedName(prefix string, incarnation, seq uint64) string {
	var room [64]byte // the prefix and two numbers of at most 13 characters
	return string(appendName(room[:0], prefix, incarnation, seq))
}

func appendName(to []byte, prefix string, incarnation, seq uint64) []byte {
	to = append(to, prefix...)
	to = strconv.AppendUint(to, incarnation, 36)
	to = append(to, '_')
	return strconv.AppendUint(to, seq, 36)
}

func generatedParts(prefix, id string) (incarnation, seq uint64, ok bool) {
	rest, ok := strings.CutPrefix(id, prefix)
	if !ok {
		return 0, 0, false
	}
	first, second, ok := strings.Cut(rest, "_")
	if !ok {
		return 0, 0, false
	}
	incarnation, err1 := strconv.ParseUint(first, 36, 64)
	seq, err2 := strconv.ParseUint(second, 36, 64)
	if err1 != nil || err2 != nil || generatedName(prefix, incarnation, seq) != id {
		return 0, 0, false // not as generatedName writes it
	}
	return incarnation, seq, true
}

// Resolved is an entry with its follow-ups. A thread is append-only, so a later fact
// about an entry is another entry, which names the first one in refs.entry_id.
// Examples are that a streamed message was committed, or an annotation.
type Resolved struct {
	Entry
	FollowUps []Entry // in seq order
}

// Resolve groups follow-ups with the entries that they are about. An entry of any kind
// is a follow-up if its refs.entry_id is the id of an earlier one in entries. A
// follow-up to a follow-up goes to the same group. All others keep their place in
// order, also those whose entry_id is not in entries: that entry may be compacted, or
// on another page.
func Resolve(entries []Entry) []Resolved {
	resolved := make([]Resolved, 0, len(entries))
	place := make(map[string]int, len(entries)) // entry id → index in resolved
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

// SpeaksOf returns the id in e's refs.entry_id, or "".
func (e Entry) SpeaksOf() string {
	if !bytes.Contains(e.Refs, []byte(RefEntryID)) {
		return ""
	}
	var id string
	err := compactjson.Members(e.Refs, func(rawName, value []byte) error {
		if string(rawName) == `"`+RefEntryID+`"` && value[0] == '"' {
			plain, err := compactjson.Unquote(value)
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
