// Package commandtest has commands for the tests of the codecs and of the state machine.
package commandtest

import "dormouse/agent"

// ManagerSeeds returns ops on managers for fuzz corpora.
func ManagerSeeds() []agent.Op {
	return []agent.Op{
		&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}, SkipsPersist: []string{"a"}}},
		&agent.DeleteManager{Name: "m", IfRevision: new(uint64)}, &agent.AnswerSignal{Hash: 1, Reply: agent.JSON(`{}`)},
	}
}

// SessionSeeds returns ops on sessions and whole agents for fuzz corpora. Each has
// an effect after those before it.
func SessionSeeds() []agent.Op {
	lease := agent.LeaseID(1<<16 + 2)
	snapshot := agent.SessionSnapshot{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseAfterPrompt}, TurnState: agent.JSON(`{"id":"n"}`)}
	return []agent.Op{
		&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyRollback, Thread: "t", Checkpoint: "c"}, Conversation: &agent.Conversation{TurnCount: 1}},
		&agent.ClaimSession{Session: "s", Owner: "o", Request: &agent.SessionRequest{ID: "q", Input: agent.JSON(`"hello"`)}, ConversationRevision: new(uint64)},
		&agent.CheckpointSession{Session: "s", LeaseID: lease, Owner: "o", Snapshot: snapshot, Reviews: []agent.ReviewDraft{{ID: "v", TTL: 1e9}}},
		&agent.RenewSession{Session: "s", LeaseID: lease, Owner: "o"},
		&agent.CommitSession{Session: "s", LeaseID: lease, Owner: "o", Status: agent.SessionWaiting},
		&agent.DecideReview{Review: "v", Decision: agent.DecideEdit, By: "b", Arguments: agent.JSON(`{}`)},
		&agent.ResumeSession{Session: "s", Owner: "o"}, &agent.RecoverSession{Session: "s", Owner: "o"},
		&agent.ForkAgent{Agent: "c", NewAgent: "d", NewThread: "d"}, &agent.SetTTL{Thread: "t", TTL: 1e9}, &agent.EraseAgent{Agent: "a", Seal: 1e9},
		&agent.CancelSession{Session: "s"}, &agent.ForkSession{Session: "s", NewSession: "u"}, &agent.DeleteSession{Session: "s", Seal: 1e9},
	}
}
