package agent_test

import (
	"errors"
	"fmt"

	"dormouse/agent"
)

// A turn of an agent: its messages and the state after it, in one commit. It applies
// at most once, and only if no other writer was faster.
func ExampleCommit() {
	rev, revision := uint64(4), uint64(2)
	turn := agent.Commit{
		Scope:   "acme",
		Request: agent.Request{Client: "worker-7/5f3a", Seq: 12, Low: 11},
		Ops: []agent.Op{
			&agent.AppendThread{
				Thread:      "thread_order_8812",
				ExpectedRev: &rev,
				Entries: []agent.Draft{
					{Kind: agent.KindMessage, Payload: agent.JSON(`{"role": "user", "content": "Where is my order?"}`)},
					{Kind: agent.KindToolCall, Payload: agent.JSON(`{"name": "lookup_order"}`), Refs: agent.JSON(`{"agent_id": "a1"}`)},
				},
			},
			&agent.PutCheckpoint{
				Key:        "agent-a1",
				State:      agent.JSON(`{"order": 9007199254740993, "__thread__": {}}`),
				Thread:     &agent.Pointer{Thread: "thread_order_8812", Rev: rev + 2},
				IfRevision: &revision,
			},
		},
	}
	if err := turn.Validate(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s\n", turn.Ops[0].(*agent.AppendThread).Entries[0].Payload)
	fmt.Printf("%s\n", turn.Ops[1].(*agent.PutCheckpoint).State)
	// Output:
	// {"role":"user","content":"Where is my order?"}
	// {"order":9007199254740993}
}

// Hibernation appends the entries that the store lacks, then writes the checkpoint
// that points to the end of the thread.
func ExampleHibernateThread() {
	sleep := agent.Commit{Ops: []agent.Op{
		&agent.HibernateThread{
			Thread: "thread_1", FromSeq: 2, Rev: 3,
			Entries: []agent.Draft{{ID: "m3", Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"bye"}`)}},
		},
		&agent.PutCheckpoint{Key: "agent-a1", State: agent.JSON(`{}`), Thread: &agent.Pointer{Thread: "thread_1", Rev: 3}, Lifecycle: "idle"},
	}}
	fmt.Println(sleep.Validate(), sleep.Scope)
	// Output: <nil> default
}

// The error names the op and the field that are wrong.
func ExampleCommit_Validate() {
	commit := agent.Commit{Ops: []agent.Op{
		&agent.PutValue{Key: "greeting", Bytes: []byte("hi")},
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`"just text"`)}}},
	}}
	err := commit.Validate()
	var e *agent.Error
	if errors.As(err, &e) {
		fmt.Println(e.Code, e.Op, e.Field)
	}
	fmt.Println(agent.OutcomeOf(err) == agent.Refused)
	// Output:
	// invalid 1 entries[0].payload
	// true
}

// A follow-up is merged into the entry that it refers to.
func ExampleResolve() {
	var entries []agent.Entry
	for seq, draft := range []agent.Draft{
		{ID: "m1", Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"Working on it"}`)},
		{ID: "m2", Kind: agent.KindMessage, Payload: agent.JSON(`{"content":"Done"}`)},
		{ID: "c1", Kind: agent.KindMessageCommitted, Payload: agent.JSON(`{"remote_id":"ts-1"}`), Refs: agent.JSON(`{"entry_id":"m1"}`)},
	} {
		entries = append(entries, draft.Entry(1, uint64(seq), 0))
	}
	for _, r := range agent.Resolve(entries) {
		fmt.Println(r.ID, len(r.FollowUps))
	}
	// Output:
	// m1 1
	// m2 0
}
