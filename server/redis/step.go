package redis

import (
	"bytes"
	"maps"
	"time"

	"dormouse/agent"
)

// kind is what a step does.
type kind int

const (
	kindGet kind = iota
	kindMGet
	kindExists
	kindTTL
	kindPTTL
	kindPut
	kindDelete
)

// condition is when a put applies.
type condition int

const (
	always  condition = iota
	absent            // the key does not exist
	present           // the key exists
	equal             // the key holds step.previous
)

// step is a command on values, validated. A transaction has several.
type step struct {
	kind kind
	keys []string

	// Of kindPut:
	value    []byte
	ttl      time.Duration // 0 means that the value does not expire
	when     condition
	previous []byte
	yes, no  any // the replies if it applied, and if it did not
}

// writes reports whether a step changes values.
func (s *step) writes() bool { return s.kind == kindPut || s.kind == kindDelete }

// needsBytes reports whether a step needs the bytes of its keys. Steps that write do: a commit writes the keys again that
// it only reads.
func (s *step) needsBytes() bool {
	return s.kind != kindExists && s.kind != kindTTL && s.kind != kindPTTL
}

// ops returns the ops of a step that writes, with the step's own condition. A put of keys that must
// exist has none.
func (s *step) ops() []agent.Op {
	if s.kind == kindPut {
		put := &agent.PutValue{Key: s.keys[0], Bytes: s.value, TTL: s.ttl}
		switch s.when {
		case absent:
			put.IfBytes = new([]byte)
		case equal:
			put.IfBytes = &s.previous
		case always, present:
		}
		return []agent.Op{put}
	}
	ops := make([]agent.Op, len(s.keys))
	for i, key := range s.keys {
		ops[i] = &agent.DeleteValue{Key: key}
	}
	return ops
}

// cell is what a transaction knows of a key.
type cell struct {
	revision    uint64 // as stored; 0 if the key does not exist
	incarnation uint64

	exists    bool // now
	bytes     []byte
	expiresAt int64         // Unix ms; 0 means never
	ttl       time.Duration // of what the transaction put
	changed   bool
}

// cells are the keys of a transaction.
type cells map[string]*cell

// apply makes a step on the cells and returns its reply. now is Unix ms.
func (m cells) apply(s *step, now int64) any {
	first := m[s.keys[0]]
	switch s.kind {
	case kindGet:
		return first.reply()
	case kindMGet:
		all := make([]any, len(s.keys))
		for i, key := range s.keys {
			all[i] = m[key].reply()
		}
		return all
	case kindExists:
		return m.count(s.keys)
	case kindTTL, kindPTTL:
		return first.lifetime(s.kind == kindTTL, now)
	case kindDelete:
		n := int64(0)
		for _, key := range s.keys {
			n += m[key].remove()
		}
		return n
	default:
		if !first.meets(s) {
			return s.no
		}
		*first = cell{revision: first.revision, incarnation: first.incarnation, exists: true, bytes: s.value, ttl: s.ttl, changed: true}
		if s.ttl > 0 {
			first.expiresAt = now + s.ttl.Milliseconds()
		}
		return s.yes
	}
}

// same reports whether other read the same revisions of the same keys.
func (m cells) same(other cells) bool {
	return maps.EqualFunc(m, other, func(a, b *cell) bool { return a.revision == b.revision && a.incarnation == b.incarnation })
}

func (m cells) count(keys []string) int64 {
	n := int64(0)
	for _, key := range keys {
		if m[key].exists {
			n++
		}
	}
	return n
}

func (c *cell) reply() any {
	if !c.exists {
		return nil
	}
	return c.bytes
}

// lifetime returns the reply to TTL, in seconds, or PTTL.
func (c *cell) lifetime(seconds bool, now int64) int64 {
	const missing, endless = -2, -1
	switch {
	case !c.exists:
		return missing
	case c.expiresAt == 0:
		return endless
	}
	left := max(0, c.expiresAt-now)
	if seconds {
		return (left + 500) / 1000
	}
	return left
}

// remove deletes a key, and returns the number of deleted keys.
func (c *cell) remove() int64 {
	if !c.exists {
		return 0
	}
	*c = cell{revision: c.revision, incarnation: c.incarnation, changed: true}
	return 1
}

func (c *cell) meets(s *step) bool {
	switch s.when {
	case absent:
		return !c.exists
	case present:
		return c.exists
	case equal:
		return c.exists && bytes.Equal(c.bytes, s.previous)
	default:
		return true
	}
}

// op returns the op that makes a cell's change, and that applies only if the key is as it was read. A
// key that was only read gets a new revision and nothing else: a commit has no other way to ask for
// one.
func (c *cell) op(key string) agent.Op {
	revision := c.revision
	switch {
	case c.changed && c.exists:
		return &agent.PutValue{Key: key, Bytes: c.bytes, TTL: c.ttl, IfRevision: &revision, IfIncarnation: c.incarnation}
	case c.changed || revision == 0:
		return &agent.DeleteValue{Key: key, IfRevision: &revision, IfIncarnation: c.incarnation}
	default:
		return &agent.ReviseValue{Key: key, Metadata: agent.JSON("{}"), IfRevision: &revision, IfIncarnation: c.incarnation}
	}
}
