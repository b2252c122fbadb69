package dapr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/dapr/components-contrib/state"

	"dormouse/sdk/go/agent"
)

// etagOf returns the etag of a value: its incarnation and its revision. A key that is
// deleted and written again has another incarnation, so its old etags match nothing.
func etagOf(incarnation, revision uint64) *string {
	etag := strconv.FormatUint(incarnation, 10) + "." + strconv.FormatUint(revision, 10)
	return &etag
}

// conditionOf returns the condition that an etag and a concurrency mode mean. A first
// write without an etag is one of a key that does not exist.
func conditionOf(key string, etag *string, concurrency string) (revision *uint64, incarnation uint64, err error) {
	if etag == nil || *etag == "" {
		if concurrency == state.FirstWrite {
			return new(uint64), 0, nil
		}
		return nil, 0, nil
	}
	first, second, _ := strings.Cut(*etag, ".")
	incarnation, err = strconv.ParseUint(first, 10, 64)
	number, err2 := strconv.ParseUint(second, 10, 64)
	if err = errors.Join(err, err2); err != nil || incarnation == 0 || number == 0 {
		return nil, 0, state.NewETagError(state.ETagMismatch, fmt.Errorf("key %s has no etag %q: use one that a read returned", key, *etag))
	}
	return &number, incarnation, nil
}

// outward returns err as what Dapr expects: failed comparisons are errors of etags.
func outward(did, key string, err error) error {
	switch agent.CodeOf(err) {
	case "":
		return nil
	case agent.CodeRevisionMismatch, agent.CodeDeleted, agent.CodeAlreadyExists:
		return state.NewETagError(state.ETagMismatch, fmt.Errorf("%s %s: %w", did, key, err))
	default:
		return fmt.Errorf("%s %s: %w", did, key, err)
	}
}
