package fsm_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/fsm/command"
)

// Ids that validation has refused since feature level 8 are in older logs. Apply accepts them as
// it always did: a node that replays an old entry gets the state that the others have.
func TestOldIdsAreAppliedAsBefore(t *testing.T) {
	r := newSubject(t)
	const id = "a\x01b\u202e"
	ops := []agent.Op{
		&agent.PutValue{Key: id}, appendTo(id), &agent.ForkThread{Thread: id, NewThread: id + "2"},
		&agent.TakeClaim{Claim: id, Holder: id, TTL: 1e9},
		&agent.WriteMemory{Agent: id, ID: id, Session: id, Content: "x"},
		&agent.ClaimSession{Session: id, Owner: id, TTL: 1e9},
	}
	for _, op := range ops {
		c := agent.Commit{Scope: id, Ops: []agent.Op{op}}
		if err := (&agent.Commit{Scope: "s", Ops: []agent.Op{op}}).Validate(); err == nil && op != ops[0] {
			t.Errorf("%T: validation accepts the id", op)
		}
		c.Trust()
		raw, err := command.EncodeCommit(&c, 0)
		if err != nil {
			t.Fatal(err)
		}
		if d := r.feed([][]byte{raw})[0]; d.Err != nil && d.Err.Code == agent.CodeInvalid {
			t.Errorf("%T: %v", op, d.Err)
		}
	}
}
