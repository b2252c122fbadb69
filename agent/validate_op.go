package agent

import (
	"errors"
	"fmt"

	"dormouse/internal/compactjson"
)

func (o *DeleteCheckpoint) validateOp(t *tally) error {
	t.bytes += len(o.Key)
	return firstOf(ValidKey("key", o.Key), validSpan("seal", o.Seal, SealMax))
}

func (o *DeleteThread) validateOp(t *tally) error {
	t.bytes += len(o.Thread)
	return firstOf(ValidID("thread", o.Thread), validSpan("seal", o.Seal, SealMax))
}

func (o *PutScope) validateOp(*tally) error {
	switch {
	case o.UseDefault && o.Default:
		return Invalid("use_default", "use_default is about one scope, and default about all: give one of them")
	case o.UseDefault && o.Policy != Policy{}:
		return Invalid("use_default", "a scope that uses the default policy has none of its own: leave out the limits, or use_default")
	}
	if o.IfPolicy != nil {
		if err := o.IfPolicy.Validate(); err != nil {
			return Invalid("if_policy", "if_policy: %v", err)
		}
	}
	return o.Policy.Validate()
}

func (*DeleteScope) validateOp(*tally) error {
	return nil
}

func firstOf(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (o *PutValue) validateOp(t *tally) error {
	t.bytes += len(o.Key) + len(o.ContentType) + len(o.Bytes)
	if err := firstOf(
		validValueKey("key", o.Key),
		validContentType(o.ContentType),
		validSpan("ttl", o.TTL, TTLMax),
		t.ifBytes(o.IfBytes),
		skipsOnly(o.SkipExisting, o.IfRevision != nil || o.IfBytes != nil || o.IfIncarnation != 0),
		normalizeMetadata(&o.Metadata),
	); err != nil {
		return err
	}
	t.bytes += len(o.Metadata)
	if len(o.Bytes) > ValueBytesMax {
		return TooLarge("bytes", "value_bytes_max", len(o.Bytes), ValueBytesMax)
	}
	return nil
}

func (o *DeleteValue) validateOp(t *tally) error {
	t.bytes += len(o.Key)
	return firstOf(ValidKey("key", o.Key), t.ifBytes(o.IfBytes), validSpan("seal", o.Seal, SealMax))
}

func (t *tally) ifBytes(want *[]byte) error {
	if want == nil {
		return nil
	}
	t.bytes += len(*want)
	if len(*want) > ValueBytesMax {
		return TooLarge("if_bytes", "value_bytes_max", len(*want), ValueBytesMax)
	}
	return nil
}

// validContentType refuses characters that an HTTP header cannot hold.
func validContentType(text string) error {
	for i := range len(text) {
		if text[i] < ' ' || text[i] == 0x7f {
			return Invalid("content_type", "content_type must not hold control characters")
		}
	}
	return validText("content_type", "kind_bytes_max", text, KindBytesMax)
}

func (o *PutCheckpoint) validateOp(t *tally) error {
	if err := firstOf(
		ValidKey("key", o.Key),
		validLifecycle(o.Lifecycle),
		skipsOnly(o.SkipExisting, o.IfRevision != nil || o.IfIncarnation != 0),
		validSpan("ttl", o.TTL, TTLMax),
		t.pointer(o.Thread),
		normalizeState(&o.State),
		normalizeMetadata(&o.Metadata),
	); err != nil {
		return err
	}
	if o.State == nil {
		o.State = emptyObject
	}
	if o.Metadata == nil {
		o.Metadata = emptyObject
	}
	if err := stripThread("state", &o.State); err != nil {
		return err
	}
	if size := len(o.State) + len(o.Metadata); size > CheckpointBytesMax {
		return TooLarge("state", "checkpoint_bytes_max", size, CheckpointBytesMax)
	}
	t.bytes += len(o.Key) + len(o.Lifecycle) + len(o.State) + len(o.Metadata)
	return nil
}

// validLifecycle validates the lifecycle of a checkpoint, which may be empty.
func validLifecycle(lifecycle string) error {
	if lifecycle == "" {
		return nil
	}
	return validWord("lifecycle", lifecycle, CheckpointLifecycles()...)
}

// skipsOnly refuses conditions beside SkipExisting: an op that keeps what exists has nothing to
// compare.
func skipsOnly(skip, conditions bool) error {
	if skip && conditions {
		return Invalid("on_exists", "on_exists = skip excludes if_revision, if_bytes and if_incarnation: it keeps what exists, whatever that is")
	}
	return nil
}

func (o *PatchCheckpoint) validateOp(t *tally) error {
	if err := firstOf(ValidKey("key", o.Key), normalize("patch", &o.Patch), o.validUpsert()); err != nil {
		return err
	}
	if o.Patch == nil {
		return Invalid("patch", "patch must be a JSON object: null would replace the whole state")
	}
	if err := stripThread("patch", &o.Patch); err != nil {
		return err
	}
	if len(o.Patch) > CheckpointBytesMax {
		return TooLarge("patch", "checkpoint_bytes_max", len(o.Patch), CheckpointBytesMax)
	}
	t.bytes += len(o.Key) + len(o.Patch)
	return nil
}

// validUpsert refuses conditions that a missing checkpoint cannot meet.
func (o *PatchCheckpoint) validUpsert() error {
	if o.Upsert && o.IfIncarnation != 0 {
		return Invalid("upsert", "upsert excludes if_incarnation: a checkpoint that is missing has none")
	}
	return nil
}

// stripThread removes the thread's entries from a state or from a patch of one.
func stripThread(field string, state *JSON) error {
	stripped, err := compactjson.Without(*state, StateThreadKey)
	if err != nil {
		return Invalid(field, "%s: %v", field, err)
	}
	replace(state, stripped)
	return nil
}

func normalizeMetadata(raw *JSON) error {
	if err := normalize("metadata", raw); err != nil {
		return err
	}
	if len(*raw) > MetadataBytesMax {
		return TooLarge("metadata", "metadata_bytes_max", len(*raw), MetadataBytesMax)
	}
	return nil
}

func (t *tally) pointer(p *Pointer) error {
	if p == nil {
		return nil
	}
	t.bytes += len(p.Thread) + len(p.Head)
	return firstOf(ValidID("thread.id", p.Thread), validHead("thread.head", p.Head))
}

func validHead(field, head string) error {
	if head == "" {
		return nil
	}
	if _, err := ParseHead(head); err != nil {
		return Invalid(field, "%s is not a head: %v", field, err)
	}
	return nil
}

func (o *AppendThread) validateOp(t *tally) error {
	t.bytes += len(o.Thread) + len(o.ExpectedHead)
	if err := firstOf(
		o.validCreate(),
		ValidID("thread", o.Thread),
		validHead("expected_head", o.ExpectedHead),
		normalizeMetadata(&o.Metadata),
	); err != nil {
		return err
	}
	t.bytes += len(o.Metadata)
	return t.drafts(o.Entries)
}

// validCreate refuses conditions that a missing thread cannot meet.
func (o *AppendThread) validCreate() error {
	if o.CreateOnly && (o.IfIncarnation != 0 || o.ExpectedRev != nil && *o.ExpectedRev != 0) {
		return Invalid("create_only", "create_only excludes if_incarnation, and an expected_rev besides 0: the thread must not exist")
	}
	return nil
}

func (o *HibernateThread) validateOp(t *tally) error {
	t.bytes += len(o.Thread)
	if err := firstOf(ValidID("thread", o.Thread), normalizeMetadata(&o.Metadata)); err != nil {
		return err
	}
	if o.Rev < o.FromSeq || o.Rev-o.FromSeq != uint64(len(o.Entries)) {
		return Invalid("rev", "rev = %d must be from_seq + the number of entries = %d + %d: send all entries from from_seq on",
			o.Rev, o.FromSeq, len(o.Entries))
	}
	t.bytes += len(o.Metadata)
	return t.drafts(o.Entries)
}

func (t *tally) drafts(drafts []Draft) error {
	t.entries += len(drafts)
	if t.entries > CommitEntriesMax {
		return TooLarge("entries", "commit_entries_max", t.entries, CommitEntriesMax)
	}
	for i := range drafts {
		size, err := drafts[i].validate()
		if err != nil {
			return within(err, fmt.Sprintf("entries[%d]", i))
		}
		t.bytes += size
	}
	return nil
}

// validate validates a draft and returns its size.
func (d *Draft) validate() (size int, err error) {
	if d.ID != "" {
		if err := ValidID("id", d.ID); err != nil {
			return 0, err
		}
	}
	if err := firstOf(
		validText("kind", "kind_bytes_max", d.Kind, KindBytesMax),
		normalize("payload", &d.Payload),
		normalize("refs", &d.Refs),
		validContentType(d.ContentType),
	); err != nil {
		return 0, err
	}
	size = d.Size()
	if size > EntryBytesMax {
		field := "payload"
		if len(d.Bytes) > len(d.Payload) {
			field = "bytes"
		}
		return 0, TooLarge(field, "entry_bytes_max", size, EntryBytesMax)
	}
	return size, nil
}

func (o *CompactThread) validateOp(t *tally) error {
	if err := firstOf(ValidID("thread", o.Thread), normalize("summary", &o.Summary)); err != nil {
		return err
	}
	if o.BeforeSeq == 0 {
		return Invalid("before_seq", "before_seq must be at least 1: name the first seq that stays")
	}
	if len(o.Summary) > EntryBytesMax {
		return TooLarge("summary", "entry_bytes_max", len(o.Summary), EntryBytesMax)
	}
	t.bytes += len(o.Thread) + len(o.Summary)
	return nil
}

func (o *ForkThread) validateOp(t *tally) error {
	t.bytes += len(o.Thread) + len(o.NewThread)
	if err := firstOf(ValidID("thread", o.Thread), ValidID("new_thread", o.NewThread)); err != nil {
		return err
	}
	if o.Thread == o.NewThread {
		return Invalid("new_thread", "new_thread must differ from thread: a thread cannot be a fork of itself")
	}
	return nil
}

// within adds the part of an op that err is about to its field.
func within(err error, part string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Field = part + "." + e.Field
		e.Detail = part + "." + e.Detail
	}
	return err
}
