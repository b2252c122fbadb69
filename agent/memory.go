package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"hash"
	"math"
)

// Memory is one thing that an agent remembers. Its id is unique among what
// that agent remembers, in whichever session.
type Memory struct {
	Agent       string
	ID          string
	Incarnation uint64
	Revision    uint64 // counts the writes to this id in its incarnation, from 1
	Session     string // "" means that it belongs to no session
	Class       string // one of MemoryClasses
	Kind        string // open; MemoryKindDefault where none was given
	Content     string
	Data        JSON     // an object, or nil
	Tags        []string // as given: trimmed, and each once
	Source      string
	Metadata    JSON      // an object
	Embedding   []float32 // only GetMemory tells it
	ObservedAt  int64     // Unix ms: when what is remembered happened
	CreatedAt   int64     // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms: from then on it is as if it had never been there; 0 means never
}

// The classes of memories.
const (
	MemoryEpisodic   = "episodic"
	MemorySemantic   = "semantic"
	MemoryProcedural = "procedural"
	MemoryWorking    = "working"
)

// MemoryClasses are all of them; the first is the default.
var MemoryClasses = []string{MemoryEpisodic, MemorySemantic, MemoryProcedural, MemoryWorking}

// MemoryKindDefault is the kind of a memory that was written without one.
const MemoryKindDefault = "event"

// ConversationText is what a turn of a conversation is remembered as.
func ConversationText(user, assistant string) string {
	return "User: " + user + "\nAssistant: " + assistant
}

// contentID is the id of a memory that was written without one: equal records
// have equal ids, so writing one again changes nothing but its place. The time
// of observation is part of the record only where the caller gave it.
func (o *WriteMemory) contentID() string {
	h := recordHash{sha256.New()}
	for _, text := range []string{o.Agent, o.Session, o.Class, o.Kind, o.Content, string(o.Data), o.Source, string(o.Metadata)} {
		h.text(text)
	}
	h.number(uint64(len(o.Tags)))
	for _, tag := range o.Tags {
		h.text(tag)
	}
	h.number(uint64(len(o.Embedding)))
	for _, x := range o.Embedding {
		h.number(uint64(math.Float32bits(x)))
	}
	if o.ObservedAt == nil {
		h.number(0)
	} else {
		h.number(1)
		h.number(uint64(*o.ObservedAt))
	}
	h.number(uint64(o.ExpiresAt))
	h.number(uint64(o.TTL))
	return memoryIDPrefix + hex.EncodeToString(h.Sum(nil))[:memoryIDDigits]
}

// What a generated id looks like (SEMANTICS §8.2).
const (
	memoryIDPrefix = "mem_"
	memoryIDDigits = 24
)

// recordHash hashes fields so that no two records run into one.
type recordHash struct{ hash.Hash }

func (h recordHash) number(n uint64) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, n)) // a hash never fails
}

func (h recordHash) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.Write([]byte(s))
}
