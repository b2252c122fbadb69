package agent

import (
	"bytes"
	"errors"

	"github.com/go-json-experiment/json/jsontext"

	"dormouse/internal/compactjson"
)

// JSON is one compact JSON value: tokens, member order and number literals as
// the caller wrote them, without insignificant white space. nil means absent.
type JSON []byte

// MarshalJSON returns the value itself; nil is null.
func (j JSON) MarshalJSON() ([]byte, error) {
	if j == nil {
		return []byte("null"), nil
	}
	return j, nil
}

// UnmarshalJSON keeps a copy of the value without its insignificant white space; null becomes nil.
func (j *JSON) UnmarshalJSON(raw []byte) error {
	value, err := Compact(raw)
	if err != nil {
		return err
	}
	*j = bytes.Clone(value)
	if compactjson.IsNull(value) {
		*j = nil
	}
	return nil
}

// emptyObject is the value of an omitted object. It must not be written to.
var emptyObject = JSON(compactjson.Object)

// Compact checks that raw is one JSON value and removes its insignificant white space;
// everything else stays as written. Duplicate member names, invalid UTF-8 and nesting
// deeper than JSONDepthMax are invalid.
//
// If raw is compact already, the result shares its memory; Compact never writes to
// raw.
func Compact(raw []byte) (JSON, error) {
	value, err := compactjson.Compact(raw)
	if err != nil {
		return nil, Invalid("", "%v", err)
	}
	return value, nil
}

// CompactObject is Compact for a value that must be a JSON object. Errors name field.
func CompactObject(field string, raw []byte) (JSON, error) {
	value, err := compactjson.Compact(raw)
	if err != nil {
		return nil, Invalid(field, "%s: %v", field, err)
	}
	if value[0] != '{' {
		return nil, Invalid(field, "%s must be a JSON object, not a %s: wrap it in one", field, jsontext.Value(value).Kind())
	}
	return value, nil
}

// MergePatch applies a merge patch (RFC 7396) to doc. Both must be compact (see
// Compact), and so is the result, which shares no memory with them. Unchanged members
// keep their place and bytes; new members follow in the patch's order. The caller
// bounds the result's size.
func MergePatch(doc, patch JSON) (JSON, error) { return patched(compactjson.MergePatch(doc, patch)) }

// AssignMembers is MergePatch, but a member of the patch replaces the member of doc whole, also
// if both are objects. null removes a member of doc; nulls further inside are kept.
func AssignMembers(doc, patch JSON) (JSON, error) {
	return patched(compactjson.AssignMembers(doc, patch))
}

func patched(merged []byte, err error) (JSON, error) {
	if errors.Is(err, compactjson.ErrSeveral) {
		return nil, Invalid("patch", "%v", err)
	}
	return merged, err
}
