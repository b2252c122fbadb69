package document

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
	"dormouse/internal/strictjson"
)

// Duration converts milliseconds to a duration; field names the member in the error.
func Duration(field string, ms uint64) (time.Duration, error) {
	if ms > uint64(agent.TTLMax/time.Millisecond) {
		return 0, agent.Invalid(field, "%d ms is more than ten years", ms)
	}
	return time.Duration(ms) * time.Millisecond, nil
}

// bodyError is an error about a member, with the member's name in the body.
type bodyError struct{ err *agent.Error }

func (e *bodyError) Error() string { return e.err.Error() }
func (e *bodyError) Unwrap() error { return e.err }

// Decode decodes a document strictly (see strictjson). Its errors name the wrong
// member; whole is the name of the document.
func Decode(raw []byte, into any, whole string) error {
	if err := strictjson.Unmarshal(raw, into); err != nil {
		return invalidJSON(err, whole)
	}
	return nil
}

// invalidJSON returns the error of a document that cannot be decoded. whole names the
// document, for errors that are about no member.
func invalidJSON(err error, whole string) error { return &bodyError{invalidDocument(err, whole)} }

// Reason says what is wrong with a document that cannot be decoded, in words of JSON.
func Reason(err error, whole string) string { return invalidDocument(err, whole).Detail }

func invalidDocument(err error, whole string) *agent.Error {
	var coded *agent.Error
	if errors.As(err, &coded) {
		return coded
	}
	field, detail := strictjson.Explain(err, whole)
	return agent.Invalid(field, "%s", detail)
}

// decodeNamed decodes a document into the type that its name, the member under key,
// selects. It returns the name too.
func decodeNamed[N, T any](raw JSON, key string, nameOf func(N) string, kinds map[string]func() T) (name string, decoded T, err error) {
	var nothing T
	var named N
	if err := json.Unmarshal(raw, &named); err != nil {
		return "", nothing, invalidJSON(err, key)
	}
	name = nameOf(named)
	empty, ok := kinds[name]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
		return "", nothing, agent.Invalid(key, "%s is %q, and should be one of %s", key, name, known)
	}
	wire := empty()
	if err := Decode(raw, wire, key); err != nil {
		return "", nothing, err
	}
	return name, wire, nil
}
