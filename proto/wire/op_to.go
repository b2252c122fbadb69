package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// opToProto fills out with op. It panics on an op that this package does not
// know, which is a bug of whoever added the op.
func opToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.PutValue:
		out.Op = &apipb.Op_PutValue{PutValue: &apipb.PutValue{
			Key: op.Key, ContentType: op.ContentType, Bytes: op.Bytes, TtlMs: millis(op.TTL),
			IfRevision: op.IfRevision, IfBytes: expectToProto(op.IfBytes), IfIncarnation: op.IfIncarnation,
			Metadata: op.Metadata,
		}}
	case *agent.DeleteValue:
		out.Op = &apipb.Op_DeleteValue{DeleteValue: &apipb.DeleteValue{
			Key: op.Key, IfRevision: op.IfRevision, IfBytes: expectToProto(op.IfBytes),
			IfIncarnation: op.IfIncarnation, SealMs: millis(op.Seal),
		}}
	case *agent.PutCheckpoint:
		out.Op = &apipb.Op_PutCheckpoint{PutCheckpoint: &apipb.PutCheckpoint{
			Key: op.Key, Version: op.Version, State: op.State, Thread: pointerToProto(op.Thread),
			Lifecycle: op.Lifecycle, Metadata: op.Metadata, TtlMs: millis(op.TTL),
			IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.PatchCheckpoint:
		out.Op = &apipb.Op_PatchCheckpoint{PatchCheckpoint: &apipb.PatchCheckpoint{
			Key: op.Key, Patch: op.Patch, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteCheckpoint:
		out.Op = &apipb.Op_DeleteCheckpoint{DeleteCheckpoint: &apipb.DeleteCheckpoint{
			Key: op.Key, IfRevision: op.IfRevision, IfIncarnation: op.IfIncarnation, SealMs: millis(op.Seal),
		}}
	case *agent.PutScope:
		out.Op = &apipb.Op_PutScope{PutScope: &apipb.PutScope{Policy: policyToProto(op.Policy)}}
	case *agent.DeleteScope:
		out.Op = &apipb.Op_DeleteScope{DeleteScope: &apipb.DeleteScope{}}
	case *agent.ImportScope:
		out.Op = &apipb.Op_ImportScope{ImportScope: importScopeToProto(op)}
	case *agent.WriteMemory:
		out.Op = &apipb.Op_WriteMemory{WriteMemory: writeMemoryToProto(op)}
	case *agent.DeleteMemory:
		out.Op = &apipb.Op_DeleteMemory{DeleteMemory: deleteMemoryToProto(op)}
	case *agent.PutManager:
		out.Op = &apipb.Op_PutManager{PutManager: putManagerToProto(op)}
	case *agent.DeleteManager:
		out.Op = &apipb.Op_DeleteManager{DeleteManager: &apipb.DeleteManager{Name: op.Name, IfRevision: op.IfRevision}}
	case *agent.AnswerSignal:
		out.Op = &apipb.Op_AnswerSignal{AnswerSignal: &apipb.AnswerSignal{Hash: op.Hash, Reply: op.Reply}}
	default:
		threadOpToProto(out, op)
	}
}

func threadOpToProto(out *apipb.Op, op agent.Op) {
	switch op := op.(type) {
	case *agent.AppendThread:
		out.Op = &apipb.Op_AppendThread{AppendThread: &apipb.AppendThread{
			Thread: op.Thread, Entries: draftsToProto(op.Entries), ExpectedRev: op.ExpectedRev,
			ExpectedHead: op.ExpectedHead, Metadata: op.Metadata, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.HibernateThread:
		out.Op = &apipb.Op_HibernateThread{HibernateThread: &apipb.HibernateThread{
			Thread: op.Thread, Rev: op.Rev, FromSeq: op.FromSeq, Entries: draftsToProto(op.Entries),
			Metadata: op.Metadata, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.DeleteThread:
		out.Op = &apipb.Op_DeleteThread{DeleteThread: &apipb.DeleteThread{
			Thread: op.Thread, IfIncarnation: op.IfIncarnation, SealMs: millis(op.Seal),
		}}
	case *agent.CompactThread:
		out.Op = &apipb.Op_CompactThread{CompactThread: &apipb.CompactThread{
			Thread: op.Thread, BeforeSeq: op.BeforeSeq, Summary: op.Summary, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.ForkThread:
		out.Op = &apipb.Op_ForkThread{ForkThread: &apipb.ForkThread{
			Thread: op.Thread, NewThread: op.NewThread, AtRev: op.AtRev, IfIncarnation: op.IfIncarnation,
		}}
	case *agent.PutTimer, *agent.DeleteTimer, *agent.AckTimer, *agent.FailTimer, *agent.PatchCron:
		timerOpToProto(out, op)
	default:
		claimOpToProto(out, op)
	}
}

func expectToProto(b *[]byte) *apipb.ExpectBytes {
	switch {
	case b == nil:
		return nil
	case *b == nil:
		return &apipb.ExpectBytes{Absent: true}
	default:
		return &apipb.ExpectBytes{Bytes: *b}
	}
}

func draftsToProto(drafts []agent.Draft) []*apipb.Draft {
	if len(drafts) == 0 {
		return nil
	}
	slab := make([]apipb.Draft, len(drafts))
	out := make([]*apipb.Draft, len(drafts))
	for i := range drafts {
		d, m := &drafts[i], &slab[i]
		m.Id, m.At, m.Kind, m.Payload, m.Refs = d.ID, d.At, d.Kind, d.Payload, d.Refs
		out[i] = m
	}
	return out
}
