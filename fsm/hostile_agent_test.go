package fsm_test

import (
	"pgregory.net/rapid"

	oppb "dormouse/proto/op"
)

// agentOp draws an unvalidated op on a whole agent.
func (h hostile) agentOp() *oppb.Op {
	switch rapid.IntRange(0, 3).Draw(h.T, "agent op") {
	case 3:
		return &oppb.Op{Op: &oppb.Op_DeletePrefix{DeletePrefix: &oppb.DeletePrefix{
			Kind: h.word("values", "checkpoints", "threads"), Prefix: h.id(), All: rapid.Bool().Draw(h.T, "all"),
		}}}
	case 0:
		return &oppb.Op{Op: &oppb.Op_ForkAgent{ForkAgent: &oppb.ForkAgent{
			Agent: h.id(), NewAgent: h.id(), NewThread: h.id(), Revision: h.number(), WithoutMemory: rapid.Bool().Draw(h.T, "without memory"),
			Session: h.id(), NewSession: h.id(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_EraseAgent{EraseAgent: &oppb.EraseAgent{
			Agent: h.word("a", h.id()), SealMs: h.ttl(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	default:
		return &oppb.Op{Op: &oppb.Op_SetTtl{SetTtl: &oppb.SetTTL{
			Thread: h.id(), Session: h.id(), TtlMs: h.ttl(), IfIncarnation: h.number(),
		}}}
	}
}

func (h hostile) managerOp() *oppb.Op {
	switch rapid.IntRange(0, 3).Draw(h.T, "manager op") {
	case 0:
		return &oppb.Op{Op: &oppb.Op_DeleteManager{DeleteManager: &oppb.DeleteManager{Name: h.id(), IfRevision: h.maybe()}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_AnswerSignal{AnswerSignal: &oppb.AnswerSignal{Hash: h.number(), Reply: h.bytes()}}}
	default:
		p := &oppb.PutManager{IfRevision: h.maybe()}
		if rapid.Bool().Draw(h.T, "manager") {
			p.Manager = &oppb.Manager{
				Name: h.id(), Handler: &oppb.Handler{Kind: h.word("document", "go", "http")}, IdleTimeoutMs: h.ttl(), Durability: h.word("turn"),
				MailboxMax: h.number(), AwakeMax: h.number(), SkipsPersist: []string{h.word("a")}, Metadata: h.bytes(),
			}
		}
		return &oppb.Op{Op: &oppb.Op_PutManager{PutManager: p}}
	}
}
