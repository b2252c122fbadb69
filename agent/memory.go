package agent

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash"
	"math"
	"slices"
	"strings"
	"time"
)

// Memory is one memory of an agent. Its id is unique within the agent, over all
// sessions.
type Memory struct {
	Agent       string
	ID          string
	Incarnation uint64
	Revision    uint64 // counts the writes to this id in its incarnation, from 1
	Session     string // "" means that it belongs to no session
	Class       string // one of MemoryClasses
	Kind        string // any string; MemoryKindDefault if none was given
	Content     string
	Data        JSON     // an object, or nil
	Tags        []string // trimmed and without duplicates
	Source      string
	Metadata    JSON      // an object
	Embedding   []float32 // returned by GetMemory only
	ObservedAt  int64     // Unix ms: when the remembered event happened
	CreatedAt   int64     // Unix ms
	UpdatedAt   int64
	ExpiresAt   int64 // Unix ms: hidden from all reads from then on; 0 means never
}

// The classes of memories.
const (
	MemoryEpisodic   = "episodic"
	MemorySemantic   = "semantic"
	MemoryProcedural = "procedural"
	MemoryWorking    = "working"
)

// MemoryClasses are all classes; the first is the default.
var MemoryClasses = []string{MemoryEpisodic, MemorySemantic, MemoryProcedural, MemoryWorking}

// MemoryKindDefault is the kind of a memory written without one.
const MemoryKindDefault = "event"

// ConversationText returns the memory text of one turn of a conversation.
func ConversationText(user, assistant string) string {
	return "User: " + user + "\nAssistant: " + assistant
}

// contentID returns the id of a memory that was written without one. Equal records
// have equal ids, so writing a record again only moves it to the head of the list. The
// time of observation counts only if the caller gave it.
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

// The form of a generated id (ME-8 in docs/semantics.md).
const (
	memoryIDPrefix = "mem_"
	memoryIDDigits = 24
)

// recordHash hashes fields with their lengths, so that different records never hash
// the same bytes.
type recordHash struct{ hash.Hash }

func (h recordHash) number(n uint64) {
	_, _ = h.Write(binary.BigEndian.AppendUint64(nil, n)) // a hash never fails
}

func (h recordHash) text(s string) {
	h.number(uint64(len(s)))
	_, _ = h.Write([]byte(s))
}

func (o *WriteMemory) validateOp(t *tally) error {
	if err := firstOf(
		o.normalizeNames(),
		validClass("class", o.Class),
		o.normalizeTags(),
		normalize("data", &o.Data),
		normalizeMetadata(&o.Metadata),
		o.validTimes(),
		ValidEmbedding("embedding", o.Embedding),
	); err != nil {
		return err
	}
	if o.Metadata == nil {
		o.Metadata = emptyObject
	}
	if o.Content == "" && o.Data == nil {
		return Invalid("content", "a memory needs content or data: give one of them")
	}
	size := o.Size()
	if size > MemoryBytesMax {
		return TooLarge("content", "memory_bytes_max", size, MemoryBytesMax)
	}
	t.bytes += len(o.Agent) + len(o.ID) + len(o.Session) + size
	if o.ID == "" {
		o.ID = o.contentID()
	}
	return ValidID("id", o.ID)
}

// Size returns the bytes that the memory adds to its agent's and its scope's usage.
func (o *WriteMemory) Size() int {
	size := len(o.Content) + len(o.Data) + len(o.Metadata) + len(o.Source) + len(o.Kind) + 4*len(o.Embedding)
	for _, tag := range o.Tags {
		size += len(tag)
	}
	return size
}

// normalizeNames validates the names, and fills in class and kind.
func (o *WriteMemory) normalizeNames() error {
	if o.Class == "" {
		o.Class = MemoryClasses[0]
	}
	if o.Kind == "" {
		o.Kind = MemoryKindDefault
	}
	if o.Session != "" {
		if err := ValidID("session_id", o.Session); err != nil {
			return err
		}
	}
	return firstOf(
		ValidID("agent", o.Agent),
		validText("kind", "kind_bytes_max", o.Kind, KindBytesMax),
		validText("source", "id_bytes_max", o.Source, IDBytesMax),
		validText("content", "memory_bytes_max", o.Content, MemoryBytesMax),
	)
}

// validTimes validates the expiry.
func (o *WriteMemory) validTimes() error {
	if o.ExpiresAt != 0 && o.TTL != 0 {
		return Invalid("ttl", "ttl and expires_at exclude each other: give one of them")
	}
	if o.ExpiresAt < 0 || o.ExpiresAt > latestTime {
		return Invalid("expires_at", "expires_at = %d must be in Unix milliseconds, up to the year 9999; leave it out for never", o.ExpiresAt)
	}
	return validSpan("ttl", o.TTL, TTLMax)
}

// latestTime is the end of the year 9999 in Unix ms.
var latestTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC).UnixMilli()

func (o *DeleteMemory) validateOp(t *tally) error {
	t.bytes += len(o.Agent) + len(o.ID)
	return firstOf(ValidID("agent", o.Agent), ValidID("id", o.ID), validSpan("seal", o.Seal, SealMax))
}

func validClass(field, class string) error {
	if !slices.Contains(MemoryClasses, class) {
		return Invalid(field, "%s = %q must be one of %s", field, class, strings.Join(MemoryClasses, ", "))
	}
	return nil
}

// normalizeTags trims the tags and removes duplicates. It writes to the op only on a
// change.
func (o *WriteMemory) normalizeTags() error {
	if len(o.Tags) > MemoryTagsMax {
		return TooLarge("tags", "memory_tags_max", len(o.Tags), MemoryTagsMax)
	}
	var normalized []string
	for i, tag := range o.Tags {
		field := fmt.Sprintf("tags[%d]", i)
		tag = strings.TrimSpace(tag)
		if tag == "" {
			return Invalid(field, "%s is empty: leave it out", field)
		}
		if err := validText(field, "kind_bytes_max", tag, KindBytesMax); err != nil {
			return err
		}
		if !slices.Contains(normalized, tag) {
			normalized = append(normalized, tag)
		}
	}
	if !slices.Equal(normalized, o.Tags) {
		o.Tags = normalized
	}
	return nil
}

// ValidEmbedding returns an error if an embedding is invalid; an empty one is valid
// and means none.
func ValidEmbedding(field string, embedding []float32) error {
	if len(embedding) > EmbeddingMax {
		return TooLarge(field, "embedding_max", len(embedding), EmbeddingMax)
	}
	var square float64
	for i, x := range embedding {
		if math.IsNaN(float64(x)) || math.IsInf(float64(x), 0) {
			return Invalid(field, "%s[%d] is not a number", field, i)
		}
		square += float64(x) * float64(x)
	}
	if square == 0 && len(embedding) > 0 {
		return Invalid(field, "%s is all zeros and has no direction: leave it out", field)
	}
	return nil
}

// memoriesAfterBytesMax is the length of the longest page token in a list of all
// agents' memories: three numbers, an agent and a NUL byte, in hex.
const memoriesAfterBytesMax = 2 * (3*8 + IDBytesMax + 1)

// validOfAll validates a list of the memories of all agents.
func (r *ListMemories) validOfAll() error {
	if r.Prefix != "" {
		return Invalid("prefix", "prefix applies to the memories of one agent: give agent too, or leave prefix out")
	}
	if r.Order != "" {
		return Invalid("order", "the memories of all agents are listed oldest write first: leave order out")
	}
	return firstOf(r.refused(), validText("after", "memories_after_bytes_max", r.After, memoriesAfterBytesMax))
}
