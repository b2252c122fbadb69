package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func threadListToProto(l *agent.ThreadList) *apipb.ThreadList {
	slab := make([]oppb.Thread, len(l.Items))
	out := &apipb.ThreadList{Items: make([]*oppb.Thread, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		ops.FillThread(&slab[i], &l.Items[i])
		out.Items[i] = &slab[i]
	}
	return out
}

func threadListFromProto(l *apipb.ThreadList) (agent.Found, error) {
	out := &agent.ThreadList{Items: make([]agent.Thread, len(l.GetItems())), Next: l.GetNext()}
	for i, t := range l.GetItems() {
		thread, err := ops.ThreadFromProto(t)
		if err != nil {
			return nil, err
		}
		out.Items[i] = thread
	}
	return out, nil
}

func entryToProto(out *apipb.Entry, e *agent.Entry) {
	out.Id, out.Seq, out.At, out.Kind, out.Payload, out.Refs = e.ID, e.Seq, e.At, e.Kind, e.Payload, e.Refs
	out.ContentType, out.Bytes = e.ContentType, e.Bytes
}

func entriesToProto(entries []agent.Entry) []*apipb.Entry {
	if len(entries) == 0 {
		return nil
	}
	slab := make([]apipb.Entry, len(entries))
	out := make([]*apipb.Entry, len(entries))
	for i := range entries {
		entryToProto(&slab[i], &entries[i])
		out[i] = &slab[i]
	}
	return out
}

func entryFromProto(e *apipb.Entry) agent.Entry {
	return agent.Entry{
		ID: e.GetId(), Seq: e.GetSeq(), At: e.GetAt(), Kind: e.GetKind(),
		Payload: ops.JSON(e.GetPayload()), Refs: ops.JSON(e.GetRefs()), ContentType: e.GetContentType(), Bytes: e.GetBytes(),
	}
}

func entriesFromProto(entries []*apipb.Entry) []agent.Entry {
	if len(entries) == 0 {
		return nil
	}
	out := make([]agent.Entry, len(entries))
	for i, e := range entries {
		out[i] = entryFromProto(e)
	}
	return out
}

func thawedToProto(t *agent.Thawed) *apipb.Thawed {
	out := &apipb.Thawed{
		Checkpoint: checkpointToProto(&t.Checkpoint), Entries: entriesToProto(t.Entries), Ahead: t.Ahead,
	}
	if t.Thread != nil {
		out.Thread = ops.ThreadToProto(t.Thread)
	}
	if t.Encoded != nil {
		out.ProtoReflect().SetUnknown(t.Encoded)
	}
	return out
}

func thawedFromProto(t *apipb.Thawed) (agent.Found, error) {
	if t == nil {
		return nil, ops.NoAnswer()
	}
	if t.Checkpoint == nil {
		return nil, agent.Errorf(agent.CodeInternal, "the answer has no checkpoint")
	}
	checkpoint, err := checkpointFromProto(t.Checkpoint)
	if err != nil {
		return nil, err
	}
	out := &agent.Thawed{Checkpoint: *checkpoint, Entries: entriesFromProto(t.Entries), Ahead: t.Ahead}
	if deferred := t.ProtoReflect().GetUnknown(); len(deferred) > 0 && len(t.Entries) == 0 { // see protocode.Deferred
		if out.Entries, err = encodedEntries(deferred); err != nil {
			return nil, err
		}
	}
	if t.Thread != nil {
		thread, err := ops.ThreadFromProto(t.Thread)
		if err != nil {
			return nil, err
		}
		out.Thread = &thread
	}
	return out, nil
}
