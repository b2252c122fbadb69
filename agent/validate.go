package agent

import (
	"errors"
	"strings"
	"time"
	"unicode/utf8"

	"dormouse/internal/compactjson"
)

// Validate validates a commit as far as possible without the store, so that no
// accepted write leaves data that cannot be read.
//
// It fills in the default scope and ttls, compacts JSON in place, replaces null
// objects other than states by "{}", and removes StateThreadKey from states. It writes
// to an op only on a change. The *Error names the op and the field. On a commit that
// was valid a second call does nothing, so do not change ops in between.
func (c *Commit) Validate() error {
	if c.checked {
		return nil
	}
	if c.Scope == "" {
		c.Scope = DefaultScope
	}
	if err := ValidID("scope", c.Scope); err != nil {
		return err
	}
	if err := c.Request.validate(); err != nil {
		return err
	}
	if err := c.validateFence(); err != nil {
		return err
	}
	if err := firstOf(
		validText("principal", "id_bytes_max", c.Principal, IDBytesMax), validText("token", "id_bytes_max", c.Token, IDBytesMax),
	); err != nil {
		return err
	}
	if err := c.validateOps(); err != nil {
		return err
	}
	c.checked = true
	return nil
}

// Trust marks a commit as validated, because another node has validated it.
func (c *Commit) Trust() { c.checked = true }

// tally sums the quantities that a commit limits over all of its ops.
type tally struct {
	entries int
	bytes   int // of ids and contents
}

func (c *Commit) validateOps() error {
	if len(c.Ops) == 0 {
		return Invalid("ops", "a commit needs at least one op")
	}
	if len(c.Ops) > CommitOpsMax {
		return TooLarge("ops", "commit_ops_max", len(c.Ops), CommitOpsMax)
	}
	c.total = tally{}
	for i, op := range c.Ops {
		if op == nil {
			return atOp(Invalid("op", "the op is missing: give one"), i)
		}
		if err := op.validateOp(&c.total); err != nil {
			return atOp(err, i)
		}
		if _, whole := op.(*DeleteScope); whole && len(c.Ops) > 1 {
			return atOp(Invalid("op", "delete_scope must be the only op of its commit: send the other %d apart", len(c.Ops)-1), i)
		}
		if _, step := op.(*ImportScope); step && len(c.Ops) > 1 {
			return atOp(Invalid("op", "import_scope must be the only op of its commit: send the other %d apart", len(c.Ops)-1), i)
		}
		if _, answer := op.(*AnswerSignal); answer && i < len(c.Ops)-1 {
			return atOp(Invalid("op", "answer_signal must be the last op of its commit: it answers for all of it"), i)
		}
		if c.total.entries > CommitEntriesMax {
			return atOp(TooLarge("entries", "commit_entries_max", c.total.entries, CommitEntriesMax), i)
		}
		if c.total.bytes > CommitBytesMax {
			return atOp(TooLarge("ops", "commit_bytes_max", c.total.bytes, CommitBytesMax), i)
		}
	}
	c.total = tally{}
	return nil
}

// validate validates a request id; the zero Request is valid.
func (r Request) validate() error {
	if r.Client == "" {
		if r != (Request{}) {
			return Invalid("request.client", "a request with a seq, low or ttl needs a client id")
		}
		return nil
	}
	if err := ValidID("request.client", r.Client); err != nil {
		return err
	}
	if r.Seq < 1 {
		return Invalid("request.seq", "request.seq must be at least 1: number the client's commits from 1")
	}
	if r.Low > r.Seq {
		return Invalid("request.low", "request.low = %d must not be above request.seq = %d, which is still awaited", r.Low, r.Seq)
	}
	return validSpan("request.ttl", r.TTL, RequestTTLMax)
}

// named validates a request id that is required.
func (r Request) named() error {
	if err := ValidID("client", r.Client); err != nil {
		return err
	}
	if r.Seq == 0 {
		return Invalid("seq", "seq must be at least 1: requests are numbered from there")
	}
	return nil
}

func (c *Commit) validateFence() error {
	if c.Fence == nil {
		return nil
	}
	if err := ValidID("fence.claim", c.Fence.Claim); err != nil {
		return err
	}
	if c.Fence.Epoch == 0 {
		return Invalid("fence.epoch", "fence.epoch must be the epoch that taking the claim returned; it is never 0")
	}
	if c.Fence.Agent != "" {
		return ValidID("fence.agent", c.Fence.Agent)
	}
	return nil
}

// atOp sets the index of the op (or read) that err is about.
func atOp(err error, op int) error {
	var e *Error
	if errors.As(err, &e) {
		e.Op = op
	}
	return err
}

// validSpan validates a ttl or seal; 0 means its default. Durations are sent as whole
// milliseconds, so a shorter one would become the default.
func validSpan(field string, span, longest time.Duration) error {
	switch {
	case span == 0:
		return nil
	case span < time.Millisecond:
		return Invalid(field, "%s = %v must be at least 1ms, or 0 for none", field, span)
	case span > longest:
		return Invalid(field, "%s = %v must be at most %v", field, span, longest)
	}
	return nil
}

// validText validates a string that may be empty.
func validText(field, limit, text string, bytesMax int) error {
	if len(text) > bytesMax {
		return TooLarge(field, limit, len(text), bytesMax)
	}
	if !utf8.ValidString(text) {
		return Invalid(field, "%s is not UTF-8", field)
	}
	return nil
}

// validName validates a string that must not be empty.
func validName(field, limit, text string, bytesMax int) error {
	if text == "" {
		return Invalid(field, "%s is empty: leave it out, or give it a value", field)
	}
	return validText(field, limit, text, bytesMax)
}

// normalize compacts an object in place; null becomes absent.
func normalize(field string, raw *JSON) error {
	if *raw == nil {
		return nil
	}
	if compactjson.IsNull(*raw) { // also if empty: protobuf does not distinguish empty from absent
		*raw = nil
		return nil
	}
	value, err := CompactObject(field, *raw)
	if err != nil {
		return err
	}
	replace(raw, value)
	return nil
}

// normalizeState is normalize for a state, which must not be null. An absent state is an
// empty object here, so null would silently replace the state by an empty one.
func normalizeState(raw *JSON) error {
	if len(*raw) > 0 && compactjson.IsNull(*raw) {
		return Invalid("state", "state is null: give an object, {} for an empty one")
	}
	return normalize("state", raw)
}

// replace assigns only on a change, so that a commit in canonical form can be
// validated while other goroutines read it.
func replace(place *JSON, value JSON) {
	if len(*place) != len(value) || (len(value) > 0 && &(*place)[0] != &value[0]) {
		*place = value
	}
}

// validPart validates a string that is compared with keys; it may be empty.
func validPart(field, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return Invalid(field, "%s must not hold a NUL byte: no key does", field)
	}
	return validText(field, "id_bytes_max", text, IDBytesMax)
}

// validPath validates a string that is compared with the paths of changes.
func validPath(field, text string) error {
	if strings.IndexByte(text, 0) >= 0 {
		return Invalid(field, "%s must not hold a NUL byte: no path does", field)
	}
	return validText(field, "change_path_bytes_max", text, ChangePathBytesMax)
}
