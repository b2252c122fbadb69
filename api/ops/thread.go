package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// HeadToProto converts a head. The head of an empty thread becomes empty. The result
// shares memory with h.
func HeadToProto(h *agent.Head) []byte {
	if *h == (agent.Head{}) {
		return nil
	}
	return h[:]
}

// HeadFromProto converts the hash of a thread or an erasure from protobuf. A value that package
// agent cannot represent is an error.
func HeadFromProto(b []byte) (agent.Head, error) {
	switch len(b) {
	case 0:
		return agent.Head{}, nil
	case len(agent.Head{}):
		return agent.Head(b), nil
	default:
		return agent.Head{}, agent.Invalid("head", "the head has %d bytes, not %d", len(b), len(agent.Head{}))
	}
}

// ThreadToProto converts a thread to protobuf.
func ThreadToProto(t *agent.Thread) *oppb.Thread {
	out := &oppb.Thread{}
	FillThread(out, t)
	return out
}

// FillThread sets out to a thread.
func FillThread(out *oppb.Thread, t *agent.Thread) {
	out.Id, out.Incarnation, out.Rev, out.Head, out.Floor = t.ID, t.Incarnation, t.Rev, HeadToProto(&t.Head), t.Floor
	out.Summary, out.CreatedAt, out.UpdatedAt, out.Metadata = t.Summary, t.CreatedAt, t.UpdatedAt, t.Metadata
	out.ExpiresAt = t.ExpiresAt
	if f := t.ForkedFrom; f != nil {
		out.ForkedFrom = &oppb.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
}

// ThreadFromProto converts a thread from protobuf. A value that package
// agent cannot represent is an error.
func ThreadFromProto(t *oppb.Thread) (agent.Thread, error) {
	if t == nil {
		return agent.Thread{}, agent.Errorf(agent.CodeInternal, "the answer has no thread")
	}
	head, err := HeadFromProto(t.Head)
	if err != nil {
		return agent.Thread{}, err
	}
	out := agent.Thread{
		ID: t.Id, Incarnation: t.Incarnation, Rev: t.Rev, Head: head, Floor: t.Floor, Summary: JSON(t.Summary),
		CreatedAt: t.CreatedAt, UpdatedAt: t.UpdatedAt, Metadata: JSON(t.Metadata), ExpiresAt: t.ExpiresAt,
	}
	if f := t.ForkedFrom; f != nil {
		out.ForkedFrom = &agent.ForkPoint{Thread: f.Thread, Incarnation: f.Incarnation, Rev: f.Rev}
	}
	return out, nil
}
