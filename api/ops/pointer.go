package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

// PointerToProto converts a pointer to protobuf.
func PointerToProto(p *agent.Pointer) *oppb.Pointer {
	if p == nil {
		return nil
	}
	return &oppb.Pointer{Thread: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

// PointerFromProto converts a pointer from protobuf. A value that package
// agent cannot represent is an error.
func PointerFromProto(p *oppb.Pointer) (*agent.Pointer, error) {
	if p == nil {
		return nil, nil
	}
	if p.Thread == "" {
		return nil, agent.Invalid("thread", "the pointer names no thread")
	}
	if n := len(p.Head); n != 0 && n != 2*len(agent.Head{}) {
		return nil, agent.Invalid("thread", "the pointer's head has %d digits, not %d", n, 2*len(agent.Head{}))
	}
	return &agent.Pointer{Thread: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}, nil
}
