package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// ToProto sets out to op. It panics on an op that this package does not know.
func ToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.PutValue:
		out.Op = &oppb.Op_PutValue{PutValue: &oppb.PutValue{
			Key: op.Key, ContentType: op.ContentType, Bytes: op.Bytes, TtlMs: Millis(op.TTL),
			IfRevision: op.IfRevision, IfBytes: expectToProto(op.IfBytes), IfIncarnation: op.IfIncarnation,
			Metadata: op.Metadata,
		}}
	case *agent.DeleteValue:
		out.Op = &oppb.Op_DeleteValue{DeleteValue: &oppb.DeleteValue{
			Key: op.Key, IfRevision: op.IfRevision, IfBytes: expectToProto(op.IfBytes),
			IfIncarnation: op.IfIncarnation, SealMs: Millis(op.Seal),
		}}
	case *agent.PutCheckpoint:
		out.Op = &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{
			Key: op.Key, Version: op.Version, State: op.State, Thread: PointerToProto(op.Thread),
			Lifecycle: op.Lifecycle, Metadata: op.Metadata, TtlMs: Millis(op.TTL),
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.PatchCheckpoint:
		out.Op = &oppb.Op_PatchCheckpoint{PatchCheckpoint: &oppb.PatchCheckpoint{
			Key: op.Key, Patch: op.Patch, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteCheckpoint:
		out.Op = &oppb.Op_DeleteCheckpoint{DeleteCheckpoint: &oppb.DeleteCheckpoint{
			Key: op.Key, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: Millis(op.Seal),
		}}
	case *agent.PutScope:
		out.Op = &oppb.Op_PutScope{PutScope: &oppb.PutScope{Policy: policyToProto(op.Policy)}}
	case *agent.DeleteScope:
		out.Op = &oppb.Op_DeleteScope{DeleteScope: &oppb.DeleteScope{}}
	case *agent.ImportScope:
		out.Op = &oppb.Op_ImportScope{ImportScope: importScopeToProto(op)}
	case *agent.WriteMemory:
		out.Op = &oppb.Op_WriteMemory{WriteMemory: writeMemoryToProto(op)}
	case *agent.DeleteMemory:
		out.Op = &oppb.Op_DeleteMemory{DeleteMemory: deleteMemoryToProto(op)}
	case *agent.PutManager:
		out.Op = &oppb.Op_PutManager{PutManager: putManagerToProto(op)}
	case *agent.DeleteManager:
		out.Op = &oppb.Op_DeleteManager{DeleteManager: &oppb.DeleteManager{Name: op.Name, IfRevision: op.IfRevision}}
	case *agent.AnswerSignal:
		out.Op = &oppb.Op_AnswerSignal{AnswerSignal: &oppb.AnswerSignal{Hash: op.Hash, Reply: op.Reply}}
	case *agent.PutToken, *agent.RevokeToken:
		tokenOpToProto(out, op)
	default:
		threadOpToProto(out, op)
	}
}

func threadOpToProto(out *oppb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.AppendThread:
		out.Op = &oppb.Op_AppendThread{AppendThread: &oppb.AppendThread{
			Thread: op.Thread, Entries: draftsToProto(op.Entries), ExpectedRev: op.ExpectedRev,
			ExpectedHead: op.ExpectedHead, Metadata: op.Metadata, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.HibernateThread:
		out.Op = &oppb.Op_HibernateThread{HibernateThread: &oppb.HibernateThread{
			Thread: op.Thread, Rev: op.Rev, FromSeq: op.FromSeq, Entries: draftsToProto(op.Entries),
			Metadata: op.Metadata, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteThread:
		out.Op = &oppb.Op_DeleteThread{DeleteThread: &oppb.DeleteThread{
			Thread: op.Thread, IfIncarnation: op.IfIncarnation, SealMs: Millis(op.Seal),
		}}
	case *agent.CompactThread:
		out.Op = &oppb.Op_CompactThread{CompactThread: &oppb.CompactThread{
			Thread: op.Thread, BeforeSeq: op.BeforeSeq, Summary: op.Summary, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.ForkThread:
		out.Op = &oppb.Op_ForkThread{ForkThread: &oppb.ForkThread{
			Thread: op.Thread, NewThread: op.NewThread, AtRev: op.AtRev, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.PutTimer, *agent.DeleteTimer, *agent.AckTimer, *agent.FailTimer, *agent.PatchCron:
		timerOpToProto(out, op)
	default:
		claimOpToProto(out, op)
	}
}

func expectToProto(b *[]byte) *oppb.ExpectBytes {
	switch {
	case b == nil:
		return nil
	case *b == nil:
		return &oppb.ExpectBytes{Absent: true}
	default:
		return &oppb.ExpectBytes{Bytes: *b}
	}
}

func draftsToProto(drafts []agent.Draft) []*oppb.Draft {
	if len(drafts) == 0 {
		return nil
	}
	slab := make([]oppb.Draft, len(drafts))
	out := make([]*oppb.Draft, len(drafts))
	for i := range drafts {
		d, m := &drafts[i], &slab[i]
		m.Id, m.At, m.Kind, m.Payload, m.Refs = d.ID, d.At, d.Kind, d.Payload, d.Refs
		out[i] = m
	}
	return out
}
