package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

// headToProto writes the head of an empty thread as nothing. It aliases h,
// which lives in the converted value.
func headToProto(h *agent.Head) []byte {
	if *h == (agent.Head{}) {
		return nil
	}
	return h[:]
}

func headFromProto(b []byte) (agent.Head, error) {
	switch len(b) {
	case 0:
		return agent.Head{}, nil
	case len(agent.Head{}):
		return agent.Head(b), nil
	default:
		return agent.Head{}, agent.Invalid("head", "the head has %d bytes, not %d", len(b), len(agent.Head{}))
	}
}

func threadToProto(t *agent.Thread) *apipb.Thread {
	out := &apipb.Thread{}
	fillThread(out, t)
	return out
}

func fillThread(out *apipb.Thread, t *agent.Thread) {
	out.Id, out.Incarnation, out.Rev, out.Head, out.Floor = t.ID, t.Incarnation, t.Rev, headToProto(&t.Head), t.Floor
	out.Summary, out.CreatedAt, out.UpdatedAt, out.Metadata = t.Summary, t.CreatedAt, t.UpdatedAt, t.Metadata
	out.ExpiresAt = t.ExpiresAt
	if f := t.ForkedFrom; f != nil {
		out.ForkedFrom = &apipb.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
}

func threadFromProto(t *apipb.Thread) (agent.Thread, error) {
	if t == nil {
		return agent.Thread{}, agent.Errorf(agent.CodeInternal, "the answer has no thread")
	}
	head, err := headFromProto(t.Head)
	if err != nil {
		return agent.Thread{}, err
	}
	out := agent.Thread{
		ID: t.Id, Incarnation: t.Incarnation, Rev: t.Rev, Head: head, Floor: t.Floor, Summary: json(t.Summary),
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: json(t.Metadata), ExpiresAt: t.ExpiresAt,
	}
	if f := t.ForkedFrom; f != nil {
		out.ForkedFrom = &agent.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
	return out, nil
}

func threadListToProto(l *agent.ThreadList) *apipb.ThreadList {
	slab := make([]apipb.Thread, len(l.Items))
	out := &apipb.ThreadList{Items: make([]*apipb.Thread, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		fillThread(&slab[i], &l.Items[i])
		out.Items[i] = &slab[i]
	}
	return out
}

func threadListFromProto(l *apipb.ThreadList) (agent.Found, error) {
	out := &agent.ThreadList{Items: make([]agent.Thread, len(l.GetItems())), Next: l.GetNext()}
	for i, t := range l.GetItems() {
		thread, err := threadFromProto(t)
		if err != nil {
			return nil, err
		}
		out.Items[i] = thread
	}
	return out, nil
}

func entryToProto(out *apipb.Entry, e *agent.Entry) {
	out.Id, out.Seq, out.At, out.Kind, out.Payload, out.Refs = e.ID, e.Seq, e.At, e.Kind, e.Payload, e.Refs
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
		Payload: json(e.GetPayload()), Refs: json(e.GetRefs()),
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
		out.Thread = threadToProto(t.Thread)
	}
	return out
}

func thawedFromProto(t *apipb.Thawed) (agent.Found, error) {
	if t == nil {
		return nil, noAnswer()
	}
	if t.Checkpoint == nil {
		return nil, agent.Errorf(agent.CodeInternal, "the answer has no checkpoint")
	}
	checkpoint, err := checkpointFromProto(t.Checkpoint)
	if err != nil {
		return nil, err
	}
	out := &agent.Thawed{Checkpoint: *checkpoint, Entries: entriesFromProto(t.Entries), Ahead: t.Ahead}
	if t.Thread != nil {
		thread, err := threadFromProto(t.Thread)
		if err != nil {
			return nil, err
		}
		out.Thread = &thread
	}
	return out, nil
}
