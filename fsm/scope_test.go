package fsm_test

import (
	"fmt"
	"testing"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

func TestAScopeCountsWhatItHolds(t *testing.T) {
	r := newSubject(t)
	r.missing(agent.CodeNotFound, &agent.GetScope{})
	r.refuse(agent.CodeMissingThread, pointing("c", "none", 1))
	r.missing(agent.CodeNotFound, &agent.GetScope{}) // a refused write creates no scope
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v", Bytes: []byte("12345")})
	do[*agent.CheckpointResult](r, state("c", `{"n":1}`))
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "id", Kind: "kind"}}})
	got := read[*agent.Scope](r, &agent.GetScope{})
	if got.Name != agent.DefaultScope || got.Keys != 3 || got.Bytes != 5+(7+2)+(2+4+2+2) || got.CreatedAt != startWall {
		t.Fatalf("%+v", got)
	}
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "v"}, &agent.DeleteCheckpoint{Key: "c"}, &agent.DeleteThread{Thread: "t"})
	if got := read[*agent.Scope](r, &agent.GetScope{}); got.Keys != 0 || got.Bytes != 0 {
		t.Fatalf("%+v", got)
	}
}

func TestAFullScopeRefusesWhatMakesItGrow(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 2, BytesMax: 10}})
	put := func(key, bytes string) *agent.PutValue { return &agent.PutValue{Key: key, Bytes: []byte(bytes)} }
	do[*agent.ValueResult](r, put("a", "12345"))
	do[*agent.ValueResult](r, put("b", "12345"))
	for limit, op := range map[string]agent.Op{"keys_max=2": put("c", ""), "bytes_max=10": put("a", "123456")} {
		_, err := r.try(op)
		if err == nil || err.Code != agent.CodeOverloaded || err.Limit != limit || err.Final {
			t.Fatalf("%s: %+v", limit, err)
		}
	}
	do[*agent.ValueResult](r, put("a", "1"), put("b", "123456789"))
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1, BytesMax: 1}})
	do[*agent.ValueResult](r, put("b", "12345678")) // over its quota, it may still shrink
	do[*agent.DeleteResult](r, &agent.DeleteValue{Key: "a"})
}

func TestDeletingAScopeDeletesAllThatIsInIt(t *testing.T) {
	r := newSubject(t)
	in := func(scope string, ops ...agent.Op) agent.Decided {
		return r.batch(agent.Commit{Scope: scope, Ops: ops})[0]
	}
	for _, scope := range []string{"a", "a!", "b"} {
		for n := range 200 {
			if d := in(scope, appendTo(fmt.Sprint(n), `{}`), &agent.PutValue{Key: fmt.Sprint(n)}, pointing(fmt.Sprint(n), fmt.Sprint(n), 1)); d.Err != nil {
				t.Fatal(d.Err)
			}
		}
	}
	request := agent.Commit{Scope: "a", Request: agent.Request{Client: "c", Seq: 1}, Ops: []agent.Op{appendTo("1", `{}`)}}
	first := r.batch(request)[0]
	decided := r.batch(
		agent.Commit{Scope: "a", Ops: []agent.Op{&agent.PutValue{Key: "before"}}},
		agent.Commit{Scope: "a", Ops: []agent.Op{&agent.DeleteScope{}}},
		agent.Commit{Scope: "a", Ops: []agent.Op{&agent.PutValue{Key: "after"}}},
	)
	for i, d := range decided {
		if d.Err != nil {
			t.Fatalf("commit %d: %v", i, d.Err)
		}
	}
	view := r.machine.View()
	defer view.Close()
	scope := view.Answer("a", &agent.GetScope{}).Found.(*agent.Scope)
	if scope.Keys != 1 {
		t.Fatalf("%+v", scope)
	}
	if list := view.Answer("a", &agent.ListValues{}).Found.(*agent.ValueList); len(list.Items) != 1 || list.Items[0].Key != "after" {
		t.Fatalf("%+v", list)
	}
	for _, other := range []string{"a!", "b"} {
		if scope := view.Answer(other, &agent.GetScope{}).Found.(*agent.Scope); scope.Keys != 600 {
			t.Fatalf("%s: %+v", other, scope)
		}
	}
	if list := view.Answer("", &agent.ListScopes{}).Found.(*agent.ScopeList); len(list.Items) != 3 {
		t.Fatalf("%+v", list)
	}
	if again := r.batch(request)[0]; again.Err != nil || again.Result.Index != first.Result.Index {
		t.Fatalf("a retry after the scope was deleted: %+v", again)
	}
	if got := r.rows(kv.KindEntry); got != 400 {
		t.Fatalf("%d entries are left, want 400", got)
	}
}

// Who may delete data may lack the right to change the policy, so the policy stays. Below the level it goes.
func TestADeletedScopeKeepsItsPolicyFromItsLevelOn(t *testing.T) {
	r := newSubject(t)
	deleted := func(principal string) {
		do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
		if d := r.batch(agent.Commit{Principal: principal, Ops: []agent.Op{&agent.DeleteScope{}}})[0]; d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	r.raise(txn.KeptPolicyLevel - 1)
	deleted("admin")
	r.missing(agent.CodeNotFound, &agent.GetScope{})
	r.record()
	for _, all := range []string{"", agent.RootPrincipal} { // no token, and one with every right
		deleted(all)
		r.missing(agent.CodeNotFound, &agent.GetScope{})
	}
	deleted("admin")
	if got := r.machine.PolicyOf(agent.DefaultScope); got.KeysMax != 1 {
		t.Fatalf("the policy is %+v", got)
	}
	e := exportOf(r, agent.DefaultScope)
	importInto(r, agent.DefaultScope, e, 1) // it is empty
}

// The condition of a policy holds from its feature level on. Below it, all nodes ignore it.
func TestTheConditionOfAPolicyHasAFeatureLevel(t *testing.T) {
	for level, want := range map[uint32]agent.Code{txn.ConditionsLevel - 1: "", txn.ConditionsLevel: agent.CodeConflict} {
		for _, byDefault := range []bool{false, true} {
			r := newSubject(t)
			r.raise(level)
			first, second := agent.Policy{KeysMax: 1}, agent.Policy{KeysMax: 2}
			do[*agent.ScopeResult](r, &agent.PutScope{Policy: first, Default: byDefault})
			_, err := r.try(&agent.PutScope{Policy: second, Default: byDefault, IfPolicy: &second})
			if (err == nil) != (want == "") || err != nil && err.Code != want {
				t.Errorf("level %d, default %v: %v, want %q", level, byDefault, err, want)
			}
		}
	}
}
