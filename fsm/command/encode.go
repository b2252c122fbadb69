package command

import (
	"encoding/hex"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"

	"dormouse/agent"
	"dormouse/internal/utf8pb"
	logpb "dormouse/proto/log"
)

// EncodeCommit encodes a validated commit for the log, once: nobody decodes it
// before it is applied. notAfterTick is the tick past which apply refuses it;
// 0 where it has no request id.
//
// The ops come first, so that their hash, by which a retry is told from
// another body under the same id, is taken from the bytes just written.
func EncodeCommit(c *agent.Commit, notAfterTick uint64) ([]byte, error) {
	ops := logpb.Commit{Ops: make([]*logpb.Op, len(c.Ops))}
	for i, op := range c.Ops {
		encoded, err := encodeOp(op)
		if err != nil {
			return nil, fmt.Errorf("encode op %d: %w", i, err)
		}
		ops.Ops[i] = encoded
	}
	opsBytes := ops.EncodedSize()
	raw := make([]byte, opsBytes, opsBytes+restBytes+len(c.Scope)+len(c.Request.Client)+len(c.Principal))
	ops.EncodeBackward(raw)
	rest := logpb.Commit{
		Scope: c.Scope, Client: c.Request.Client, Seq: c.Request.Seq, Low: c.Request.Low,
		NotAfterTick: notAfterTick, Principal: c.Principal, BodyHash: xxhash.Sum64(raw),
	}
	if rest.Scope == "" {
		rest.Scope = agent.DefaultScope
	}
	if c.Fence != nil {
		rest.Fence = &logpb.Fence{Claim: c.Fence.Claim, Epoch: c.Fence.Epoch, Agent: c.Fence.Agent, Since: c.Fence.Since}
	}
	raw = slices.Grow(raw, rest.EncodedSize())[:opsBytes+rest.EncodedSize()]
	rest.EncodeBackward(raw[opsBytes:])
	if err := commitShape.Check(raw); err != nil {
		return nil, fmt.Errorf("encode commit: %w", err)
	}
	return raw, nil
}

// restBytes is about what a commit takes besides its ops and names.
const restBytes = 64

// commitShape is where a commit has strings. What apply decodes is not looked at
// again, so none that is not UTF-8 may come into the log.
var commitShape = utf8pb.Of((&logpb.Commit{}).ProtoReflect().Descriptor())

// EncodeLogCommit encodes a commit that is made of log ops, as the cluster's
// own are. It looks whether strings are UTF-8, as EncodeCommit does.
func EncodeLogCommit(c *logpb.Commit) []byte {
	raw, err := Marshal(c)
	if err == nil {
		err = commitShape.Check(raw)
	}
	if err != nil {
		panic(fmt.Sprintf("encode commit: %v", err)) // only bad UTF-8 can do this, and ids are checked
	}
	return raw
}

func encodeOp(op agent.Op) (*logpb.Op, error) {
	switch o := op.(type) {
	case *agent.PutValue:
		return &logpb.Op{Op: &logpb.Op_PutValue{PutValue: encodePutValue(o)}}, nil
	case *agent.DeleteValue:
		p, err := encodeDeleteValue(o)
		return &logpb.Op{Op: &logpb.Op_DeleteValue{DeleteValue: p}}, err
	case *agent.PutCheckpoint:
		p, err := encodePutCheckpoint(o)
		return &logpb.Op{Op: &logpb.Op_PutCheckpoint{PutCheckpoint: p}}, err
	case *agent.PatchCheckpoint:
		return &logpb.Op{Op: &logpb.Op_PatchCheckpoint{PatchCheckpoint: &logpb.PatchCheckpoint{
			Key: o.Key, Patch: o.Patch, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.PatchCron:
		return &logpb.Op{Op: &logpb.Op_PatchCron{PatchCron: &logpb.PatchCron{
			Key: o.Key, Specs: o.Specs, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.DeleteCheckpoint:
		return &logpb.Op{Op: &logpb.Op_DeleteCheckpoint{DeleteCheckpoint: &logpb.DeleteCheckpoint{
			Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
		}}}, nil
	case *agent.AppendThread:
		p, err := encodeAppend(o)
		return &logpb.Op{Op: &logpb.Op_AppendThread{AppendThread: p}}, err
	case *agent.HibernateThread:
		return &logpb.Op{Op: &logpb.Op_HibernateThread{HibernateThread: &logpb.HibernateThread{
			Thread: o.Thread, Rev: o.Rev, FromSeq: o.FromSeq, Entries: encodeDrafts(o.Entries),
			Metadata: o.Metadata, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.DeleteThread:
		return &logpb.Op{Op: &logpb.Op_DeleteThread{DeleteThread: &logpb.DeleteThread{
			Thread: o.Thread, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
		}}}, nil
	case *agent.CompactThread:
		return &logpb.Op{Op: &logpb.Op_CompactThread{CompactThread: &logpb.CompactThread{
			Thread: o.Thread, BeforeSeq: o.BeforeSeq, Summary: o.Summary, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.ForkThread:
		return &logpb.Op{Op: &logpb.Op_ForkThread{ForkThread: &logpb.ForkThread{
			Thread: o.Thread, NewThread: o.NewThread, AtRev: o.AtRev, IfIncarnation: o.IfIncarnation,
		}}}, nil
	case *agent.PutScope:
		return &logpb.Op{Op: &logpb.Op_PutScope{PutScope: &logpb.PutScope{
			History: o.Policy.History, KeysMax: o.Policy.KeysMax, BytesMax: o.Policy.BytesMax,
			MemoriesMax: o.Policy.MemoriesMax, MemoryBytesMax: o.Policy.MemoryBytesMax,
			ChangesMax: o.Policy.ChangesMax, HistoryAgeMs: o.Policy.HistoryAgeMS,
		}}}, nil
	case *agent.ImportScope:
		return &logpb.Op{Op: &logpb.Op_ImportScope{ImportScope: encodeImportScope(o)}}, nil
	case *agent.DeleteScope:
		return &logpb.Op{Op: &logpb.Op_DeleteScope{DeleteScope: &logpb.DeleteScope{}}}, nil
	case *agent.WriteMemory:
		return &logpb.Op{Op: &logpb.Op_WriteMemory{WriteMemory: encodeWriteMemory(o)}}, nil
	case *agent.DeleteMemory:
		return &logpb.Op{Op: &logpb.Op_DeleteMemory{DeleteMemory: encodeDeleteMemory(o)}}, nil
	case *agent.PutManager, *agent.DeleteManager, *agent.AnswerSignal:
		return encodeManagerOp(op), nil
	default:
		return encodeClaimOp(op)
	}
}

func encodeClaimOp(op agent.Op) (*logpb.Op, error) {
	switch o := op.(type) {
	case *agent.TakeClaim:
		return &logpb.Op{Op: &logpb.Op_TakeClaim{TakeClaim: &logpb.TakeClaim{
			Claim: o.Claim, Holder: o.Holder, TtlMs: Millis(o.TTL),
		}}}, nil
	case *agent.RenewClaim:
		return &logpb.Op{Op: &logpb.Op_RenewClaim{RenewClaim: &logpb.RenewClaim{
			Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, TtlMs: Millis(o.TTL),
		}}}, nil
	case *agent.ReleaseClaim:
		return &logpb.Op{Op: &logpb.Op_ReleaseClaim{ReleaseClaim: &logpb.ReleaseClaim{
			Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, To: o.To, TtlMs: Millis(o.TTL),
		}}}, nil
	default:
		return encodeSessionOp(op)
	}
}

func encodePutValue(o *agent.PutValue) *logpb.PutValue {
	p := &logpb.PutValue{
		Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, TtlMs: Millis(o.TTL),
		IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Metadata: o.Metadata,
	}
	switch {
	case o.IfBytes == nil:
	case *o.IfBytes == nil:
		p.IfAbsent = true
	default:
		p.IfBytes = &logpb.Bytes{Bytes: *o.IfBytes}
	}
	return p
}

func encodeDeleteValue(o *agent.DeleteValue) (*logpb.DeleteValue, error) {
	p := &logpb.DeleteValue{
		Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, SealMs: Millis(o.Seal),
	}
	if o.IfBytes != nil {
		if *o.IfBytes == nil {
			return nil, agent.Invalid("if_bytes", "a delete cannot ask that the value is missing")
		}
		p.IfBytes = &logpb.Bytes{Bytes: *o.IfBytes}
	}
	return p, nil
}

func encodePutCheckpoint(o *agent.PutCheckpoint) (*logpb.PutCheckpoint, error) {
	thread, err := encodePointer(o.Thread)
	if err != nil {
		return nil, err
	}
	return &logpb.PutCheckpoint{
		Key: o.Key, Version: o.Version, State: o.State, Thread: thread, Lifecycle: o.Lifecycle,
		Metadata: o.Metadata, TtlMs: Millis(o.TTL), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
	}, nil
}

func encodeAppend(o *agent.AppendThread) (*logpb.AppendThread, error) {
	head, err := encodeHead("expected_head", o.ExpectedHead)
	if err != nil {
		return nil, err
	}
	return &logpb.AppendThread{
		Thread: o.Thread, Entries: encodeDrafts(o.Entries), ExpectedRev: o.ExpectedRev,
		ExpectedHead: head, Metadata: o.Metadata, IfIncarnation: o.IfIncarnation,
	}, nil
}

func encodeDrafts(drafts []agent.Draft) []*logpb.Draft {
	block := make([]logpb.Draft, len(drafts)) // one allocation for all
	out := make([]*logpb.Draft, len(drafts))
	for i := range drafts {
		d, p := &drafts[i], &block[i]
		p.Id, p.At, p.Kind, p.Payload, p.Refs = d.ID, d.At, d.Kind, d.Payload, d.Refs
		out[i] = p
	}
	return out
}

func encodePointer(p *agent.Pointer) (*logpb.Pointer, error) {
	if p == nil {
		return nil, nil
	}
	head, err := encodeHead("thread.head", p.Head)
	if err != nil {
		return nil, err
	}
	return &logpb.Pointer{Thread: p.Thread, Rev: p.Rev, Head: head, Incarnation: p.Incarnation}, nil
}

func encodeHead(field, text string) ([]byte, error) {
	if text == "" {
		return nil, nil
	}
	head, err := hex.DecodeString(text)
	if err != nil || len(head) != len(agent.Head{}) {
		return nil, agent.Invalid(field, "a head has %d hex digits", 2*len(agent.Head{}))
	}
	return head, nil
}

// Millis rounds up: what is to live at all lives a millisecond.
func Millis(d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64((d + time.Millisecond - 1) / time.Millisecond)
}
