package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// opFromProto converts an op. A kind whose body is missing is refused like a
// missing kind.
func opFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_PutValue:
		return putValueFromProto(o.PutValue)
	case *apipb.Op_DeleteValue:
		return deleteValueFromProto(o.DeleteValue)
	case *apipb.Op_PutCheckpoint:
		return putCheckpointFromProto(o.PutCheckpoint)
	case *apipb.Op_PatchCheckpoint:
		if p := o.PatchCheckpoint; p != nil {
			return &agent.PatchCheckpoint{
				Key: p.Key, Patch: json(p.Patch), IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
			}, nil
		}
	case *apipb.Op_DeleteCheckpoint:
		return deleteCheckpointFromProto(o.DeleteCheckpoint)
	case *apipb.Op_PutScope:
		if o.PutScope != nil {
			return &agent.PutScope{Policy: policyFromProto(o.PutScope.Policy)}, nil
		}
	case *apipb.Op_DeleteScope:
		if o.DeleteScope != nil {
			return &agent.DeleteScope{}, nil
		}
	case *apipb.Op_ImportScope:
		if o.ImportScope != nil {
			return importScopeFromProto(o.ImportScope), nil
		}
	case *apipb.Op_WriteMemory:
		return writeMemoryFromProto(o.WriteMemory)
	case *apipb.Op_PutManager, *apipb.Op_DeleteManager, *apipb.Op_AnswerSignal:
		return managerOpFromProto(op)
	case *apipb.Op_DeleteMemory:
		return deleteMemoryFromProto(o.DeleteMemory)
	case *apipb.Op_PutTimer, *apipb.Op_DeleteTimer, *apipb.Op_AckTimer, *apipb.Op_FailTimer, *apipb.Op_PatchCron:
		return timerOpFromProto(op)
	default:
		return threadOpFromProto(op)
	}
	return nil, noKind()
}

func threadOpFromProto(op *apipb.Op) (agent.Op, error) {
	switch o := op.GetOp().(type) {
	case *apipb.Op_AppendThread:
		return appendFromProto(o.AppendThread)
	case *apipb.Op_HibernateThread:
		return hibernateFromProto(o.HibernateThread)
	case *apipb.Op_DeleteThread:
		return deleteThreadFromProto(o.DeleteThread)
	case *apipb.Op_CompactThread:
		if c := o.CompactThread; c != nil {
			return &agent.CompactThread{
				Thread: c.Thread, BeforeSeq: c.BeforeSeq, Summary: json(c.Summary), IfIncarnation: c.IfIncarnation,
			}, nil
		}
	case *apipb.Op_ForkThread:
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

// json keeps "absent" one thing: the wire cannot tell empty from missing.
func json(b []byte) agent.JSON {
	if len(b) == 0 {
		return nil
	}
	return b
}

func putValueFromProto(p *apipb.PutValue) (agent.Op, error) {
	if p == nil {
		return nil, noKind()
	}
	ttl, err := duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	return &agent.PutValue{
		Key: p.Key, ContentType: p.ContentType, Bytes: p.Bytes, TTL: ttl,
		IfRevision: p.IfRevision, IfBytes: expectFromProto(p.IfBytes), IfIncarnation: p.IfIncarnation, Metadata: json(p.Metadata),
	}, nil
}

func deleteValueFromProto(d *apipb.DeleteValue) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteValue{
		Key: d.Key, IfRevision: d.IfRevision, IfBytes: expectFromProto(d.IfBytes),
		IfIncarnation: d.IfIncarnation, Seal: seal,
	}, nil
}

func putCheckpointFromProto(p *apipb.PutCheckpoint) (agent.Op, error) {
	if p == nil {
		return nil, noKind()
	}
	ttl, err := duration("ttl_ms", p.TtlMs)
	if err != nil {
		return nil, err
	}
	thread, err := pointerFromProto(p.Thread)
	if err != nil {
		return nil, err
	}
	return &agent.PutCheckpoint{
		Key: p.Key, Version: p.Version, State: json(p.State), Thread: thread, Lifecycle: p.Lifecycle,
		Metadata: json(p.Metadata), TTL: ttl, IfRevision: p.IfRevision, IfIncarnation: p.IfIncarnation,
	}, nil
}

func deleteCheckpointFromProto(d *apipb.DeleteCheckpoint) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteCheckpoint{Key: d.Key, IfRevision: d.IfRevision, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}

func deleteThreadFromProto(d *apipb.DeleteThread) (agent.Op, error) {
	if d == nil {
		return nil, noKind()
	}
	seal, err := duration("seal_ms", d.SealMs)
	if err != nil {
		return nil, err
	}
	return &agent.DeleteThread{Thread: d.Thread, IfIncarnation: d.IfIncarnation, Seal: seal}, nil
}

func appendFromProto(a *apipb.AppendThread) (agent.Op, error) {
	if a == nil {
		return nil, noKind()
	}
	drafts, err := draftsFromProto(a.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.AppendThread{
		Thread: a.Thread, Entries: drafts, ExpectedRev: a.ExpectedRev, ExpectedHead: a.ExpectedHead,
		Metadata: json(a.Metadata), IfIncarnation: a.IfIncarnation,
	}, nil
}

func hibernateFromProto(h *apipb.HibernateThread) (agent.Op, error) {
	if h == nil {
		return nil, noKind()
	}
	drafts, err := draftsFromProto(h.Entries)
	if err != nil {
		return nil, err
	}
	return &agent.HibernateThread{
		Thread: h.Thread, Rev: h.Rev, FromSeq: h.FromSeq, Entries: drafts,
		Metadata: json(h.Metadata), IfIncarnation: h.IfIncarnation,
	}, nil
}

func expectFromProto(e *apipb.ExpectBytes) *[]byte {
	if e == nil {
		return nil
	}
	var b []byte
	if !e.Absent {
		// An empty value is not an absent one, and the wire drops empty bytes.
		if b = e.Bytes; b == nil {
			b = []byte{}
		}
	}
	return &b
}

func draftsFromProto(drafts []*apipb.Draft) ([]agent.Draft, error) {
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
		out[i] = agent.Draft{ID: d.Id, At: d.At, Kind: d.Kind, Payload: json(d.Payload), Refs: json(d.Refs)}
	}
	return out, nil
}
