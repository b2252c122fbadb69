package fsm_test

import (
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

func (h hostile) word(words ...string) string {
	return rapid.SampledFrom(append(words, "", "no word")).Draw(h.T, "word")
}

func (h hostile) status() string {
	return h.word("new", "running", "hibernated", "waiting", "finished", "error", "cancelled")
}

// lease draws a lease that entry 1, 2 or 3 may have assigned, or none.
func (h hostile) lease() string {
	epoch := uint64(rapid.IntRange(1, 3).Draw(h.T, "entry"))<<16 + uint64(rapid.IntRange(1, 4).Draw(h.T, "ordinal"))
	return rapid.SampledFrom([]string{agent.LeaseID(epoch), agent.LeaseID(epoch), "", "lease_x", "lease_18446744073709551616"}).Draw(h.T, "lease")
}

func (h hostile) request() *oppb.SessionRequest {
	if rapid.IntRange(0, 3).Draw(h.T, "no request") == 0 {
		return nil
	}
	return &oppb.SessionRequest{Id: h.id(), Input: h.bytes(), OwnerId: h.id(), Outcome: "no outcome"}
}

func (h hostile) snapshot() *oppb.SessionSnapshot {
	return &oppb.SessionSnapshot{Id: h.id(), AgentId: h.word("a"), Cursor: &oppb.Cursor{Phase: h.word("review")}, TurnState: h.bytes()}
}

func (h hostile) reviews() (out []*oppb.ReviewDraft) {
	for range rapid.IntRange(0, 2).Draw(h.T, "reviews") {
		out = append(out, &oppb.ReviewDraft{
			Id: h.id(), Assignee: h.id(), EscalateTo: h.id(), Arguments: h.bytes(), TtlMs: h.ttl(), EscalateAfterMs: h.ttl(),
		})
	}
	return out
}

// settings draws settings, most of them valid. A put has none at times.
func (h hostile) settings() *oppb.SessionSettings {
	if rapid.IntRange(0, 7).Draw(h.T, "no settings") == 0 {
		return nil
	}
	return &oppb.SessionSettings{
		Busy: h.word("enqueue", "interrupt", "rollback"), QueueMax: h.number() % (agent.SessionQueueMax + 2), SchemaVersion: h.number() % 5,
		Thread: h.id(), Checkpoint: h.id(),
	}
}

func (h hostile) conversation() *oppb.Conversation {
	if rapid.Bool().Draw(h.T, "no conversation") {
		return nil
	}
	return &oppb.Conversation{AgentState: h.bytes(), ContinuationRevision: h.number()}
}

func (h hostile) sessionOp() *oppb.Op {
	switch rapid.IntRange(0, 15).Draw(h.T, "session op") {
	case 0, 1, 2:
		return &oppb.Op{Op: &oppb.Op_PutSession{PutSession: &oppb.PutSession{
			Session: h.id(), Mode: h.word("classic", "lease"), AgentId: "a", Status: h.status(),
			Conversation: h.conversation(), Settings: h.settings(), Result: h.bytes(), Request: h.request(), IfRevision: h.maybe(), IfIncarnation: h.number(),
		}}}
	case 3, 4, 5:
		return &oppb.Op{Op: &oppb.Op_ClaimSession{ClaimSession: &oppb.ClaimSession{
			Session: h.id(), OwnerId: "a", Request: h.request(), TtlMs: h.ttl(), ConversationRevision: h.maybe(),
		}}}
	case 6:
		return &oppb.Op{Op: &oppb.Op_ResumeSession{ResumeSession: &oppb.ResumeSession{Session: h.id(), OwnerId: "a", TtlMs: h.ttl()}}}
	case 7:
		return &oppb.Op{Op: &oppb.Op_RecoverSession{RecoverSession: &oppb.RecoverSession{Session: h.id(), OwnerId: h.id(), TtlMs: h.ttl()}}}
	case 8, 9:
		return &oppb.Op{Op: &oppb.Op_CheckpointSession{CheckpointSession: &oppb.CheckpointSession{
			Session: h.id(), LeaseId: h.lease(), OwnerId: "a", TtlMs: h.ttl(), Snapshot: h.snapshot(), Reviews: h.reviews(),
		}}}
	case 10:
		return &oppb.Op{Op: &oppb.Op_CommitSession{CommitSession: &oppb.CommitSession{
			Session: h.id(), LeaseId: h.lease(), OwnerId: "a", Status: h.status(), Result: h.bytes(), Conversation: h.conversation(),
			Snapshots: []*oppb.SessionSnapshot{h.snapshot()}, Reviews: h.reviews(),
		}}}
	case 11:
		return &oppb.Op{Op: &oppb.Op_DecideReview{DecideReview: &oppb.DecideReview{
			Review: h.id(), Decision: h.word("approve", "deny", "edit"), By: h.id(), Arguments: h.bytes(),
		}}}
	case 12:
		return &oppb.Op{Op: &oppb.Op_ForkSession{ForkSession: &oppb.ForkSession{
			Session: h.id(), NewSession: h.id(), SnapshotId: h.id(), IfRevision: h.maybe(),
		}}}
	case 13, 14:
		return h.agentOp()
	default:
		return h.endingOp()
	}
}

func (h hostile) endingOp() *oppb.Op {
	if rapid.Bool().Draw(h.T, "cancel") {
		return &oppb.Op{Op: &oppb.Op_CancelSession{CancelSession: &oppb.CancelSession{Session: h.id(), Reason: h.bytes(), IfRevision: h.maybe()}}}
	}
	return &oppb.Op{Op: &oppb.Op_DeleteSession{DeleteSession: &oppb.DeleteSession{Session: h.id(), IfRevision: h.maybe(), SealMs: h.ttl()}}}
}

// Answers are part of the state: if an unvalidated op has two faults, all replicas name the same
// one.
func TestAllReplicasNameTheSameFaultOfASession(t *testing.T) {
	commit, err := proto.Marshal(&logpb.Commit{Scope: "s", Client: "c", Seq: 1, NotAfterTick: 1 << 40, Ops: []*oppb.Op{
		{Op: &oppb.Op_PutSession{PutSession: &oppb.PutSession{Session: "s", AgentId: "a", Settings: &oppb.SessionSettings{Thread: strings.Repeat("t", 600), Checkpoint: "."}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	first, _ := applyAnything(t, [][][]byte{{commit}})
	for range 32 {
		if again, _ := applyAnything(t, [][][]byte{{commit}}); again != first {
			t.Fatal("two machines that were fed the same log differ")
		}
	}
}
