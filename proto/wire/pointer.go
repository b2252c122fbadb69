package wire

import (
	"dormouse/agent"
	apipb "dormouse/proto/api"
)

func pointerToProto(p *agent.Pointer) *apipb.Pointer {
	if p == nil {
		return nil
	}
	return &apipb.Pointer{Thread: p.Thread, Rev: p.Rev, Head: p.Head, Incarnation: p.Incarnation}
}

func pointerFromProto(p *apipb.Pointer) (*agent.Pointer, error) {
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
