package fsm_test

import (
	"pgregory.net/rapid"

	logpb "dormouse/proto/log"
)

// agentOp draws an op on a whole agent that no door has seen.
func (h hostile) agentOp() *logpb.Op {
	switch rapid.IntRange(0, 2).Draw(h.T, "agent op") {
	case 0:
		return &logpb.Op{Op: &logpb.Op_ForkAgent{ForkAgent: &logpb.ForkAgent{
			Agent: h.id(), NewAgent: h.id(), NewThread: h.id(), Revision: h.number(), WithoutMemory: rapid.Bool().Draw(h.T, "without memory"),
			Session: h.id(), NewSession: h.id(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	case 1:
		return &logpb.Op{Op: &logpb.Op_EraseAgent{EraseAgent: &logpb.EraseAgent{
			Agent: h.word("a", h.id()), SealMs: h.ttl(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	default:
		return &logpb.Op{Op: &logpb.Op_SetTtl{SetTtl: &logpb.SetTTL{
			Thread: h.id(), Session: h.id(), TtlMs: h.ttl(), IfIncarnation: h.number(),
		}}}
	}
}

func (h hostile) managerOp() *logpb.Op {
	switch rapid.IntRange(0, 3).Draw(h.T, "manager op") {
	case 0:
		return &logpb.Op{Op: &logpb.Op_DeleteManager{DeleteManager: &logpb.DeleteManager{Name: h.id(), IfRevision: h.maybe()}}}
	case 1:
		return &logpb.Op{Op: &logpb.Op_AnswerSignal{AnswerSignal: &logpb.AnswerSignal{Hash: h.number(), Reply: h.bytes()}}}
	default:
		p := &logpb.PutManager{Name: h.id(), IfRevision: h.maybe()}
		if rapid.Bool().Draw(h.T, "settings") {
			p.Settings = &logpb.ManagerSettings{
				Handler: &logpb.Handler{Kind: h.word("document", "go", "http")}, IdleTimeoutMs: h.ttl(), Durability: h.word("turn"),
				MailboxMax: h.number(), AwakeMax: h.number(), SkipsPersist: []string{h.word("a")}, Metadata: h.bytes(),
			}
		}
		return &logpb.Op{Op: &logpb.Op_PutManager{PutManager: p}}
	}
}
