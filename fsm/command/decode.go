package command

import (
	"encoding/hex"
	"fmt"
	"time"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeLogCommit parses one commit of a batch. What this version does not know
// is an error, not skipped: every node must make the same of it.
func DecodeLogCommit(raw []byte) (*logpb.Commit, error) {
	c := &logpb.Commit{}
	if err := Unmarshal(raw, c); err != nil {
		return nil, fmt.Errorf("decode commit: %w", err)
	}
	if len(c.ProtoReflect().GetUnknown()) > 0 {
		return nil, errNewerCommit
	}
	for _, op := range c.Ops {
		if op.Op == nil || len(op.ProtoReflect().GetUnknown()) > 0 {
			return nil, errNewerCommit
		}
	}
	return c, nil
}

var errNewerCommit = fmt.Errorf("decode commit: it holds what this version does not know: upgrade this node")

// DecodeCommit is the inverse of EncodeCommit, for commits whose ops are all
// agent's: the cluster's own are an error.
func DecodeCommit(raw []byte) (c agent.Commit, notAfterTick uint64, err error) {
	p, err := DecodeLogCommit(raw)
	if err != nil {
		return agent.Commit{}, 0, err
	}
	c = agent.Commit{
		Scope:     p.Scope,
		Request:   agent.Request{Client: p.Client, Seq: p.Seq, Low: p.Low},
		Principal: p.Principal,
		Ops:       make([]agent.Op, len(p.Ops)),
	}
	if p.Fence != nil {
		c.Fence = &agent.Fence{Claim: p.Fence.Claim, Epoch: p.Fence.Epoch, Agent: p.Fence.Agent, Since: p.Fence.Since}
	}
	for i, op := range p.Ops {
		if c.Ops[i], err = DecodeOp(op); err != nil {
			return agent.Commit{}, 0, fmt.Errorf("decode op %d: %w", i, err)
		}
	}
	return c, p.NotAfterTick, nil
}

// DecodeOp is the agent's op in a log op. It shares the log op's memory.
func DecodeOp(op *logpb.Op) (agent.Op, error) {
	switch p := op.Op.(type) {
	case *logpb.Op_PutValue:
		return decodePutValue(p.PutValue), nil
	case *logpb.Op_DeleteValue:
		return decodeDeleteValue(p.DeleteValue), nil
	case *logpb.Op_PutCheckpoint:
		return decodePutCheckpoint(p.PutCheckpoint), nil
	case *logpb.Op_PatchCheckpoint:
		o := p.PatchCheckpoint
		return &agent.PatchCheckpoint{
			Key: o.GetKey(), Patch: o.GetPatch(), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation,
		}, nil
	case *logpb.Op_PatchCron:
		o := p.PatchCron
		return &agent.PatchCron{Key: o.GetKey(), Specs: o.GetSpecs(), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation}, nil
	case *logpb.Op_DeleteCheckpoint:
		o := p.DeleteCheckpoint
		return &agent.DeleteCheckpoint{
			Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: Duration(o.SealMs),
		}, nil
	case *logpb.Op_AppendThread:
		return decodeAppend(p.AppendThread), nil
	case *logpb.Op_HibernateThread:
		o := p.HibernateThread
		return &agent.HibernateThread{
			Thread: o.Thread, Rev: o.Rev, FromSeq: o.FromSeq, Entries: decodeDrafts(o.Entries),
			Metadata: o.Metadata, IfIncarnation: o.IfIncarnation,
		}, nil
	case *logpb.Op_DeleteThread:
		o := p.DeleteThread
		return &agent.DeleteThread{Thread: o.Thread, IfIncarnation: o.IfIncarnation, Seal: Duration(o.SealMs)}, nil
	case *logpb.Op_CompactThread:
		o := p.CompactThread
		return &agent.CompactThread{
			Thread: o.Thread, BeforeSeq: o.BeforeSeq, Summary: o.Summary, IfIncarnation: o.IfIncarnation,
		}, nil
	case *logpb.Op_ForkThread:
		o := p.ForkThread
		return &agent.ForkThread{
			Thread: o.Thread, NewThread: o.NewThread, AtRev: o.AtRev, IfIncarnation: o.IfIncarnation,
		}, nil
	case *logpb.Op_PutScope:
		o := p.PutScope
		return &agent.PutScope{Policy: agent.Policy{
			History: o.History, KeysMax: o.KeysMax, BytesMax: o.BytesMax, MemoriesMax: o.MemoriesMax, MemoryBytesMax: o.MemoryBytesMax,
			ChangesMax: o.ChangesMax, HistoryAgeMS: o.HistoryAgeMs,
		}}, nil
	case *logpb.Op_ImportScope:
		return decodeImportScope(p.ImportScope), nil
	case *logpb.Op_DeleteScope:
		return &agent.DeleteScope{}, nil
	case *logpb.Op_WriteMemory:
		return decodeWriteMemory(p.WriteMemory), nil
	case *logpb.Op_DeleteMemory:
		return decodeDeleteMemory(p.DeleteMemory), nil
	case *logpb.Op_PutManager:
		return decodePutManager(p.PutManager), nil
	case *logpb.Op_DeleteManager:
		return &agent.DeleteManager{Name: p.DeleteManager.Name, IfRevision: p.DeleteManager.IfRevision}, nil
	case *logpb.Op_AnswerSignal:
		return &agent.AnswerSignal{Hash: p.AnswerSignal.Hash, Reply: p.AnswerSignal.Reply}, nil
	default:
		return decodeClaimOp(op)
	}
}

func decodeClaimOp(op *logpb.Op) (agent.Op, error) {
	switch p := op.Op.(type) {
	case *logpb.Op_TakeClaim:
		o := p.TakeClaim
		return &agent.TakeClaim{Claim: o.Claim, Holder: o.Holder, TTL: Duration(o.TtlMs)}, nil
	case *logpb.Op_RenewClaim:
		o := p.RenewClaim
		return &agent.RenewClaim{Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, TTL: Duration(o.TtlMs)}, nil
	case *logpb.Op_ReleaseClaim:
		o := p.ReleaseClaim
		return &agent.ReleaseClaim{Claim: o.Claim, Holder: o.Holder, Epoch: o.Epoch, To: o.To, TTL: Duration(o.TtlMs)}, nil
	default:
		return decodeSessionOp(op)
	}
}

func decodePutValue(p *logpb.PutValue) *agent.PutValue {
	o := &agent.PutValue{
		Key: p.Key, ContentType: p.ContentType, Bytes: p.Bytes, TTL: Duration(p.TtlMs),
		IfRevision: p.IfRevision, IfBytes: decodeIfBytes(p.IfBytes), IfIncarnation: p.IfIncarnation, Metadata: p.Metadata,
	}
	if p.IfAbsent {
		o.IfBytes = new([]byte)
	}
	return o
}

func decodeDeleteValue(p *logpb.DeleteValue) *agent.DeleteValue {
	return &agent.DeleteValue{
		Key: p.Key, IfRevision: p.IfRevision, IfBytes: decodeIfBytes(p.IfBytes),
		IfIncarnation: p.IfIncarnation, Seal: Duration(p.SealMs),
	}
}

// decodeIfBytes keeps apart "must be empty" and "must not exist", which is nil
// inside.
func decodeIfBytes(p *logpb.Bytes) *[]byte {
	if p == nil {
		return nil
	}
	b := p.Bytes
	if b == nil {
		b = []byte{}
	}
	return &b
}

func decodePutCheckpoint(p *logpb.PutCheckpoint) *agent.PutCheckpoint {
	return &agent.PutCheckpoint{
		Key: p.Key, Version: p.Version, State: p.State, Thread: DecodePointer(p.Thread), Lifecycle: p.Lifecycle,
		Metadata: p.Metadata, TTL: Duration(p.TtlMs), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}
}

func decodeAppend(p *logpb.AppendThread) *agent.AppendThread {
	return &agent.AppendThread{
		Thread: p.Thread, Entries: decodeDrafts(p.Entries), ExpectedRev: p.ExpectedRev,
		ExpectedHead: hex.EncodeToString(p.ExpectedHead), Metadata: p.Metadata, IfIncarnation: p.IfIncarnation,
	}
}

func decodeDrafts(entries []*logpb.Draft) []agent.Draft {
	if len(entries) == 0 {
		return nil
	}
	drafts := make([]agent.Draft, len(entries))
	for i, p := range entries {
		drafts[i] = agent.Draft{ID: p.Id, At: p.At, Kind: p.Kind, Payload: p.Payload, Refs: p.Refs}
	}
	return drafts
}

// DecodePointer converts a pointer to a thread; nil stays nil.
func DecodePointer(p *logpb.Pointer) *agent.Pointer {
	if p == nil {
		return nil
	}
	return &agent.Pointer{
		Thread: p.Thread, Rev: p.Rev, Head: hex.EncodeToString(p.Head), Incarnation: p.Incarnation,
	}
}

// Duration returns a number of milliseconds as a duration.
func Duration(ms uint64) time.Duration { return time.Duration(ms) * time.Millisecond }

// OrEmptyObject is what stands for a JSON object that was not given.
func OrEmptyObject(raw agent.JSON) agent.JSON {
	if len(raw) == 0 {
		return agent.JSON("{}")
	}
	return raw
}

// DecodeCheckpointRow decodes the row of the checkpoint under key.
func DecodeCheckpointRow(key string, raw []byte) (*logpb.CheckpointRow, error) {
	row := &logpb.CheckpointRow{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode checkpoint %q: %w", key, err)
	}
	return row, nil
}
