package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// FromProto converts an op. It refuses an op without a kind or without a body.
func FromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_PutValue:
		return putValueFromProto(o.PutValue)
	case *oppb.Op_DeleteValue:
		return deleteValueFromProto(o.DeleteValue)
	case *oppb.Op_PutCheckpoint:
		return putCheckpointFromProto(o.PutCheckpoint)
	case *oppb.Op_PatchCheckpoint:
		if p := o.PatchCheckpoint; p != nil {
			return &agent.PatchCheckpoint{
				Key: p.Key, Patch: JSON(p.Patch), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
			}, nil
		}
	case *oppb.Op_DeleteCheckpoint:
		return deleteCheckpointFromProto(o.DeleteCheckpoint)
	case *oppb.Op_PutScope:
		if o.PutScope != nil {
			return &agent.PutScope{Policy: policyFromProto(o.PutScope.Policy)}, nil
		}
	case *oppb.Op_DeleteScope:
		if o.DeleteScope != nil {
			return &agent.DeleteScope{}, nil
		}
	case *oppb.Op_ImportScope:
		if o.ImportScope != nil {
			return importScopeFromProto(o.ImportScope), nil
		}
	case *oppb.Op_PutToken:
		return putTokenFromProto(o.PutToken)
	case *oppb.Op_RevokeToken:
		return revokeTokenFromProto(o.RevokeToken)
	case *oppb.Op_WriteMemory:
		return writeMemoryFromProto(o.WriteMemory)
	case *oppb.Op_PutManager, *oppb.Op_DeleteManager, *oppb.Op_AnswerSignal:
		return managerOpFromProto(op)
	case *oppb.Op_DeleteMemory:
		return deleteMemoryFromProto(o.DeleteMemory)
	case *oppb.Op_PutTimer, *oppb.Op_DeleteTimer, *oppb.Op_AckTimer, *oppb.Op_FailTimer, *oppb.Op_PatchCron:
		return timerOpFromProto(op)
	default:
		return threadOpFromProto(op)
	}
	return nil, noKind()
}

func threadOpFromProto(op *oppb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *oppb.Op_AppendThread:
		return appendFromProto(o.AppendThread)
	case *oppb.Op_HibernateThread:
		return hibernateFromProto(o.HibernateThread)
	case *oppb.Op_DeleteThread:
		return deleteThreadFromProto(o.DeleteThread)
	case *oppb.Op_CompactThread:
		if c := o.CompactThread; c != nil {
			return &agent.CompactThread{
				Thread: c.Thread, BeforeSeq: c.BeforeSeq, Summary: JSON(c.Summary), IfIncarnation: c.IfIncarnation,
			}, nil
		}
	case *oppb.Op_ForkThread:
		if f := o.ForkThread; f != nil {
			return &agent.ForkThread{
				Thread: f.Thread, NewThread: f.NewThread, AtRev: f.AtRev, IfIncarnation: f.IfIncarnation,
			}, nil
		}
	default:
		return claimOpFromProto(op)
	}
	return nil, noKind()
}

func noKind() error {
	return agent.Invalid("op", "the op is missing or of a kind that this node does not know")
}

// JSON returns b, or nil if b is empty: protobuf does not distinguish empty from
// missing bytes.
func JSON(b []byte) agent.JSON {
	if len(b) == 0 {
		return nil
	}
	return b
}

func putValueFromProto(p *oppb.PutValue) (agent.Op, error) {
	if p == nil {
		return nil, noKind()
	}
	ttl, err := Duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	return &agent.PutValue{
		Key: p.Key, ContentType: p.ContentType, Bytes: p.Bytes, TTL: ttl,
		IfRevision: p.IfRevision, IfBytes: expectFromProto(p.IfBytes), IfIncarnation: p.IfIncarnation, Metadata: JSON(p.Metadata),
	}, nil
}

func deleteValueFromProto(d *oppb.DeleteValue) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteValue{
		Key: d.Key, IfRevision: d.IfRevision, IfBytes: expectFromProto(d.IfBytes),
		IfIncarnation: d.IfIncarnation, Seal: seal,
	}, nil
}

func putCheckpointFromProto(p *oppb.PutCheckpoint) (agent.Op, error) {
	if p == nil {
		return nil, noKind()
	}
	ttl, err := Duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	thread, err := PointerFromProto(p.Thread)
	if err != nil {
		return nil, err
	}
	return &agent.PutCheckpoint{
		Key: p.Key, Version: p.Version, State: JSON(p.State), Thread: thread, Lifecycle: p.Lifecycle,
		Metadata: JSON(p.Metadata), TTL: ttl, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func deleteCheckpointFromProto(d *oppb.DeleteCheckpoint) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteCheckpoint{Key: d.Key, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}

func deleteThreadFromProto(d *oppb.DeleteThread) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := Duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteThread{Thread: d.Thread, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}

func appendFromProto(a *oppb.AppendThread) (agent.Op, error) {
	if a == nil {
		return nil, noKind()
	}
	drafts, err := draftsFromProto(a.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.AppendThread{
		Thread: a.Thread, Entries: drafts, ExpectedRev: a.ExpectedRev, ExpectedHead: a.ExpectedHead,
		Metadata: JSON(a.Metadata), IfIncarnation: a.IfIncarnation,
	}, nil
}

func hibernateFromProto(h *oppb.HibernateThread) (agent.Op, error) {
	if h == nil {
		return nil, noKind()
	}
	drafts, err := draftsFromProto(h.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.HibernateThread{
		Thread: h.Thread, Rev: h.Rev, FromSeq: h.FromSeq, Entries: drafts,
		Metadata: JSON(h.Metadata), IfIncarnation: h.IfIncarnation,
	}, nil
}

func expectFromProto(e *oppb.ExpectBytes) *[]byte {
	if e == nil {
		return nil
	}
	var b []byte
	if !e.Absent {
		// An empty value is not absent, and protobuf drops empty bytes.
		if b = e.Bytes; b == nil {
			b = []byte{}
		}
	}
	return &b
}

func draftsFromProto(drafts []*oppb.Draft) ([]agent.Draft, error) {
	if n := len(drafts); n > agent.CommitEntriesMax {
		return nil, agent.TooLarge("entries", "commit_entries_max", n, agent.CommitEntriesMax)
	}
	if len(drafts) == 0 {
		return nil, nil
	}
	out := make([]agent.Draft, len(drafts))
	for i, d := range drafts {
		if d == nil {
			return nil, agent.Invalid("entries", "entry %d is missing", i)
		}
		out[i] = agent.Draft{ID: d.Id, At: d.At, Kind: d.Kind, Payload: JSON(d.Payload), Refs: JSON(d.Refs)}
	}
	return out, nil
}
