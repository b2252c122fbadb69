package httpclient

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"dormouse/agent"
)

// ErrPartial says that a node of an older version leaves the incarnation out of the answer to a read alone. POST /v1/reads
// has it.
var ErrPartial = errors.New("the answer has no incarnation")

// valueCall returns GET /v1/values/{key}, whose answer is the value's bytes.
func valueCall(scope string, query url.Values, key string) *readCall {
	return &readCall{
		request: request{method: http.MethodGet, path: "/v1/values/" + url.PathEscape(key) + asked(query), scope: scope},
		answers: func(a *answer) (agent.Answers, error) {
			value, err := bareValue(a, key)
			if err != nil {
				return agent.Answers{}, err
			}
			return stamped(a, []agent.Answer{{Found: value}})
		},
	}
}

// bareValue returns a value with what its bytes and the headers say.
func bareValue(a *answer, key string) (*agent.Value, error) {
	tag, err := strconv.Unquote(a.header.Get("ETag"))
	if err != nil {
		return nil, fmt.Errorf("the header ETag: %w", err)
	}
	revision, err := strconv.ParseUint(tag, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the header ETag: %w", err)
	}
	text := a.header.Get("Dormouse-Incarnation")
	if text == "" {
		return nil, ErrPartial
	}
	incarnation, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("the header Dormouse-Incarnation: %w", err)
	}
	return &agent.Value{Key: key, Incarnation: incarnation, Revision: revision, ContentType: a.header.Get("Content-Type"), Bytes: a.body}, nil
}

// libraryValue decodes a value as a library returns it.
func libraryValue(key string) func(raw []byte) (agent.Found, error) {
	return func(raw []byte) (agent.Found, error) {
		found, err := foundValue(raw)
		value, is := found.(*agent.Value)
		if err == nil && is && value.Incarnation == 0 {
			err = ErrPartial
		}
		if is {
			value.Key = key
		}
		return found, err
	}
}

// bareEntries decodes a page of entries, which names the thread's incarnation and not all of the thread.
func bareEntries(thread string) func(raw []byte) (agent.Found, error) {
	return func(raw []byte) (agent.Found, error) {
		found, err := foundEntries(raw)
		loaded, is := found.(*agent.Entries)
		if err == nil && is && loaded.Thread.Incarnation == 0 {
			err = ErrPartial
		}
		if is {
			loaded.Thread.ID = thread
		}
		return found, err
	}
}
