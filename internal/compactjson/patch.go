package compactjson

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
)

// MergePatch applies a merge patch (RFC 7396) to doc. Both must be compact (see
// Compact), and so is the result, which shares no memory with them. Unchanged members
// keep their place and bytes; new members follow in the patch's order. The caller
// bounds the result's size.
//
// evanphx/json-patch (v5.9.11) cannot be used. It adds new members in the random order
// of a Go map, so replicas would differ. It also drops nulls inside arrays of a patch,
// which RFC 7396 keeps.
func MergePatch(doc, patch []byte) ([]byte, error) { return merge(doc, patch, false) }

// AssignMembers is MergePatch, but a member of the patch replaces the member of doc whole, also
// if both are objects. null removes a member of doc; nulls further inside are kept.
func AssignMembers(doc, patch []byte) ([]byte, error) { return merge(doc, patch, true) }

func merge(doc, patch []byte, shallow bool) ([]byte, error) {
	change, err := parseChange(patch, shallow)
	if err != nil {
		return nil, fmt.Errorf("merge patch: %w", err)
	}
	out := make([]byte, 0, len(doc)+len(patch))
	if change.members == nil {
		return append(out, change.value...), nil
	}
	if len(doc) == 0 || doc[0] != '{' {
		return change.appendNew(out), nil
	}
	decoder := jsontext.NewDecoder(bytes.NewBuffer(doc))
	if out, err = change.appendMerged(out, decoder); err != nil {
		return nil, fmt.Errorf("merge patch: stored document: %w", err)
	}
	return out, nil
}

// change is a merge patch or a part of one: an object of changes, or a replacement
// value. Its slices alias the patch; see members.
type change struct {
	members []namedChange  // in the patch's order; nil means that value replaces the target
	byName  map[string]int // unquoted name → index in members
	value   []byte
}

type namedChange struct {
	rawName []byte // quoted, as in the patch
	change  change
}

// parseChange parses a whole merge patch. In a shallow one the members are replacement values.
func parseChange(patch []byte, shallow bool) (change, error) {
	decoder := jsontext.NewDecoder(bytes.NewBuffer(patch))
	parsed, err := readChange(decoder, shallow)
	if err != nil {
		return change{}, err
	}
	if _, err := decoder.ReadToken(); !errors.Is(err, io.EOF) {
		return change{}, ErrSeveral
	}
	return parsed, nil
}

// readChange reads the next value of decoder. Its recursion is as deep as the patch,
// which Compact has bounded.
func readChange(decoder *jsontext.Decoder, shallow bool) (change, error) {
	if decoder.PeekKind() != '{' {
		value, err := decoder.ReadValue()
		return change{value: value}, err
	}
	if _, err := decoder.ReadToken(); err != nil {
		return change{}, err
	}
	object := change{members: []namedChange{}, byName: map[string]int{}}
	for decoder.PeekKind() != '}' {
		rawName, err := decoder.ReadValue()
		if err != nil {
			return change{}, err
		}
		name, err := Unquote(rawName)
		if err != nil {
			return change{}, err
		}
		member, err := readMember(decoder, shallow)
		if err != nil {
			return change{}, err
		}
		object.byName[name] = len(object.members)
		object.members = append(object.members, namedChange{rawName, member})
	}
	_, err := decoder.ReadToken()
	return object, err
}

// readMember reads the value of a member.
func readMember(decoder *jsontext.Decoder, shallow bool) (change, error) {
	if !shallow {
		return readChange(decoder, false)
	}
	value, err := decoder.ReadValue()
	return change{value: bytes.Clone(value)}, err
}

// removes reports whether c is a null, which removes its member.
func (c change) removes() bool { return c.members == nil && string(c.value) == "null" }

// appendNew writes the result of applying c to a missing value or to one that is not
// an object.
func (c change) appendNew(out []byte) []byte {
	if c.members == nil {
		return append(out, c.value...)
	}
	start := len(out)
	out = append(out, '{')
	for _, member := range c.members {
		if !member.change.removes() {
			out = appendName(out, start, member.rawName)
			out = member.change.appendNew(out)
		}
	}
	return append(out, '}')
}

// appendMerged reads an object from doc and writes the result of applying c to it. It
// passes over doc once, however deep the patch is.
func (c change) appendMerged(out []byte, doc *jsontext.Decoder) ([]byte, error) {
	if _, err := doc.ReadToken(); err != nil {
		return nil, err
	}
	start := len(out)
	out = append(out, '{')
	met := make([]bool, len(c.members))
	for doc.PeekKind() != '}' {
		rawName, err := doc.ReadValue()
		if err != nil {
			return nil, err
		}
		name, err := Unquote(rawName)
		if err != nil {
			return nil, err
		}
		at, touched := c.byName[name]
		if touched {
			met[at] = true
		}
		if touched && c.members[at].change.removes() {
			if err := doc.SkipValue(); err != nil {
				return nil, err
			}
			continue
		}
		out = appendName(out, start, rawName)
		if touched {
			out, err = c.members[at].change.appendOver(out, doc)
		} else {
			out, err = appendNext(out, doc)
		}
		if err != nil {
			return nil, err
		}
	}
	for i, member := range c.members {
		if !met[i] && !member.change.removes() {
			out = appendName(out, start, member.rawName)
			out = member.change.appendNew(out)
		}
	}
	_, err := doc.ReadToken()
	return append(out, '}'), err
}

// appendOver writes the result of applying c to doc's next value.
func (c change) appendOver(out []byte, doc *jsontext.Decoder) ([]byte, error) {
	if c.members != nil && doc.PeekKind() == '{' {
		return c.appendMerged(out, doc)
	}
	if err := doc.SkipValue(); err != nil {
		return nil, err
	}
	return c.appendNew(out), nil
}

// appendNext copies doc's next value.
func appendNext(out []byte, doc *jsontext.Decoder) ([]byte, error) {
	value, err := doc.ReadValue()
	return append(out, value...), err
}

// appendName writes the name of a member of the object opened at out[start].
func appendName(out []byte, start int, rawName []byte) []byte {
	if len(out) > start+1 {
		out = append(out, ',')
	}
	out = append(out, rawName...)
	return append(out, ':')
}
