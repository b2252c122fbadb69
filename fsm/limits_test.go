package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// eachQuota has a policy of each quota that allows two, a write that adds one, and one that takes
// one away.
var eachQuota = map[string]struct {
	policy agent.Policy
	add    func(n int) agent.Op
	remove func(n int) agent.Op
}{
	"keys": {
		agent.Policy{KeysMax: 2},
		func(n int) agent.Op { return &agent.PutValue{Key: fmt.Sprint(n)} },
		func(n int) agent.Op { return &agent.DeleteValue{Key: fmt.Sprint(n)} },
	},
	"bytes": {
		agent.Policy{BytesMax: 2},
		func(n int) agent.Op { return &agent.PutValue{Key: fmt.Sprint(n), Bytes: []byte("x")} },
		func(n int) agent.Op { return &agent.DeleteValue{Key: fmt.Sprint(n)} },
	},
	"agents": {
		agent.Policy{AgentsMax: 2},
		func(n int) agent.Op { return &agent.PutSession{Session: fmt.Sprint(n), Agent: fmt.Sprint(n)} },
		func(n int) agent.Op { return &agent.EraseAgent{Agent: fmt.Sprint(n)} },
	},
	"threads": {
		agent.Policy{ThreadsMax: 2},
		func(n int) agent.Op { return &agent.AppendThread{Thread: fmt.Sprint(n)} },
		func(n int) agent.Op { return &agent.DeleteThread{Thread: fmt.Sprint(n)} },
	},
	"entries": {
		agent.Policy{EntriesMax: 2},
		func(int) agent.Op { return appendTo("t", `{}`) },
		func(n int) agent.Op { return &agent.CompactThread{Thread: "t", BeforeSeq: uint64(n)} },
	},
	"timers": {
		agent.Policy{TimersMax: 2},
		func(n int) agent.Op { return once(fmt.Sprint(n), startWall+int64(time.Hour/time.Millisecond)) },
		func(n int) agent.Op { return &agent.DeleteTimer{Manager: "m", Key: "k", ID: fmt.Sprint(n)} },
	},
}

// At each quota a write that needs more is refused whole, by name, and is not remembered. What adds
// nothing goes through, and so does everything once there is room or the limit is raised.
func TestEachQuotaHoldsAtItsEdge(t *testing.T) {
	for noun, q := range eachQuota {
		t.Run(noun, func(t *testing.T) {
			r := recording(t)
			r.pass()
			do[*agent.ScopeResult](r, &agent.PutScope{Policy: q.policy})
			refuse := func(ops ...agent.Op) {
				t.Helper()
				request := agent.Commit{Request: agent.Request{Client: "c", Seq: 1}, Ops: ops}
				for range 2 {
					e := r.batch(request)[0].Err
					if e == nil || e.Code != agent.CodeQuotaExceeded || e.Limit != noun+"_max=2" || e.Final {
						t.Fatalf("%+v", e)
					}
				}
			}
			refuse(q.add(1), q.add(2), q.add(3))
			if _, e := r.try(q.add(1), q.add(2)); e != nil {
				t.Fatal(e)
			}
			refuse(q.add(3))
			if _, e := r.try(q.add(3), q.remove(1)); e != nil && noun != "agents" { // an erasure clears sessions in later entries
				t.Fatal(e)
			}
			smaller := q.policy
			smaller.KeysMax, smaller.BytesMax = min(smaller.KeysMax, 1), min(smaller.BytesMax, 1)
			smaller.AgentsMax, smaller.ThreadsMax = min(smaller.AgentsMax, 1), min(smaller.ThreadsMax, 1)
			smaller.EntriesMax, smaller.TimersMax = min(smaller.EntriesMax, 1), min(smaller.TimersMax, 1)
			do[*agent.ScopeResult](r, &agent.PutScope{Policy: smaller})
			if _, e := r.try(q.remove(2)); e != nil {
				t.Fatal(e)
			}
			do[*agent.ScopeResult](r, &agent.PutScope{})
			if _, e := r.try(q.add(4), q.add(5)); e != nil {
				t.Fatal(e)
			}
		})
	}
}

// The default policy applies to each scope without a policy of its own, at once, and to none with
// one, even if that one is empty.
func TestTheDefaultPolicyIsOfScopesWithoutTheirOwn(t *testing.T) {
	r := recording(t)
	r.pass()
	put := func(scope, key string) *agent.Error {
		return r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: key}}})[0].Err
	}
	in := func(scope string, op agent.Op) {
		t.Helper()
		if d := r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{op}})[0]; d.Err != nil {
			t.Fatal(d.Err)
		}
	}
	in("own", &agent.PutScope{})
	in("other", &agent.PutScope{Default: true, Policy: agent.Policy{KeysMax: 1, History: 2}})
	if got := read[*agent.Scope](r, &agent.GetScope{Default: true}).Policy; got != (agent.Policy{KeysMax: 1, History: 2}) {
		t.Fatalf("the default is %+v", got)
	}
	r.missing(agent.CodeNotFound, &agent.GetScope{}) // it creates no scope
	for _, scope := range []string{"own", agent.DefaultScope} {
		if e := put(scope, "a"); e != nil {
			t.Fatal(e)
		}
	}
	if e := put("own", "b"); e != nil {
		t.Fatal(e)
	}
	if e := put(agent.DefaultScope, "b"); e == nil || e.Limit != "keys_max=1" {
		t.Fatalf("%+v", e)
	}
	if got := read[*agent.Scope](r, &agent.GetScope{}); got.OwnPolicy || got.Policy.KeysMax != 1 {
		t.Fatalf("%+v", got)
	}
	for range 3 { // of which the default keeps two
		in(agent.DefaultScope, &agent.DeleteValue{Key: "a"})
		in(agent.DefaultScope, &agent.PutCheckpoint{Key: "c"})
	}
	if got := read[*agent.CheckpointList](r, &agent.CheckpointHistory{Key: "c"}); len(got.Items) != 2 {
		t.Fatalf("%d revisions", len(got.Items))
	}
	in("own", &agent.PutScope{UseDefault: true})
	if e := put("own", "c"); e == nil || e.Limit != "keys_max=1" {
		t.Fatalf("%+v", e)
	}
	d := r.batch(agent.Commit{Ops: []agent.Op{&agent.PutScope{Default: true}, &agent.ForkThread{Thread: "none", NewThread: "x"}}})[0]
	if d.Err == nil {
		t.Fatal("it was applied")
	}
	if e := put("own", "c"); e == nil {
		t.Fatal("a refused commit changed the default policy")
	}
	in("own", &agent.PutScope{Default: true})
	if e := put("own", "c"); e != nil {
		t.Fatal(e)
	}
}

// Entries below the level are decided as before: the limits that they do not know are ignored, and
// a full scope is overloaded.
func TestEntriesBelowTheLevelOfLimitsAreDecidedAsBefore(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.LimitsLevel - 1)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1, ThreadsMax: 1, AwakeMax: 1}})
	got := read[*agent.Scope](r, &agent.GetScope{})
	if got.Policy != (agent.Policy{KeysMax: 1}) || got.OwnPolicy {
		t.Fatalf("%+v", got)
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "a"})
	if _, e := r.try(&agent.PutValue{Key: "b"}); e == nil || e.Code != agent.CodeOverloaded || e.Detail != `scope "default" is full: keys_max = 1` {
		t.Fatalf("%+v", e)
	}
	r.record()
	if _, e := r.try(&agent.PutValue{Key: "b"}); e == nil || e.Code != agent.CodeQuotaExceeded {
		t.Fatalf("%+v", e)
	}
	do[*agent.ScopeResult](r, &agent.PutScope{Default: true, Policy: agent.Policy{KeysMax: 5}})
	if _, e := r.try(&agent.PutValue{Key: "b"}); e == nil || e.Limit != "keys_max=1" {
		t.Fatalf("a policy from below the level is not the scope's own: %+v", e)
	}
}

// The default policy is part of a snapshot.
func TestASnapshotHasTheDefaultPolicy(t *testing.T) {
	r := recording(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Default: true, Policy: agent.Policy{ThreadsMax: 1}})
	a, b := openPeer(t, storage.MemFS()), openPeer(t, storage.MemFS())
	defer a.close(t)
	defer b.close(t)
	a.apply(t, r.log...)
	a.snapshot(t, r.index, r.term)
	if err := b.install(a); err != nil {
		t.Fatal(err)
	}
	n := len(r.log)
	for _, thread := range []string{"a", "b"} {
		r.batch(agent.Commit{Ops: []agent.Op{&agent.AppendThread{Thread: thread}}})
	}
	b.apply(t, r.log[n:]...)
	if b.hash(t) != r.hash() {
		t.Fatal("a machine from the snapshot has another state")
	}
}
