package fsm_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// holdsDecision reports whether an entry holds a decision in place of commits.
func holdsDecision(tb testing.TB, e *raft.Log) bool {
	tb.Helper()
	b, _, err := command.Unpack(e.Data)
	if err != nil {
		tb.Fatal(err)
	}
	return b.Decision != nil
}

// rowSums returns a sum for each kind of rows but that of the progress, whose chain is over the
// entries.
func rowSums(tb testing.TB, m *fsm.Machine) map[string]fsm.Sum {
	tb.Helper()
	v := m.View()
	defer v.Close()
	_, sums, err := v.StateSum(tb.Context())
	if err != nil {
		tb.Fatal(err)
	}
	byKind := map[string]fsm.Sum{}
	for _, s := range sums {
		byKind[s.Kind] = s
	}
	delete(byKind, kv.KindName("\x00"))
	return byKind
}

// TestADecisionIsWhatEachReplicaWouldDecide feeds the same commits to a machine whose entries hold
// decisions, and to one whose entries hold commits: the outcomes and the rows are equal.
func TestADecisionIsWhatEachReplicaWouldDecide(t *testing.T) {
	decisions := 0
	rapid.Check(t, func(rt *rapid.T) {
		r, each := newSubject(t), openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), EachDecides: true})
		defer r.close()
		defer each.close()
		r.record()
		each.record()
		m := newModel()
		g := &generator{model: m}
		for range rapid.IntRange(1, 25).Draw(rt, "entries") {
			commits := g.entry(rt, r)
			each.term, each.tick, each.wall = r.term, r.tick, r.wall
			for each.index < r.index { // the generator has let entries pass
				each.pass()
			}
			decided := r.batch(commits...)
			for i, d := range decided {
				judge(rt, m, commits[i], d)
			}
			if holdsDecision(t, r.log[len(r.log)-1]) {
				decisions++
			}
			if diff := cmp.Diff(each.batch(commits...), decided); diff != "" {
				rt.Fatalf("commits that each replica decides (-), and that the leader decides (+):\n%s", diff)
			}
			if diff := cmp.Diff(rowSums(t, each.machine), rowSums(t, r.machine)); diff != "" {
				rt.Fatalf("rows after commits that each replica decides (-), and that the leader decides (+):\n%s", diff)
			}
		}
	})
	if decisions == 0 {
		t.Error("no entry held a decision")
	}
}

// A decision holds for the place in the log that its leader expected. Anywhere else no replica
// applies its commits, and the leader says so.
func TestADecisionHoldsOnlyAtItsPlace(t *testing.T) {
	put := func(key string) agent.Commit {
		return agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: key, Bytes: []byte("x")}}}
	}
	for name, c := range map[string]struct {
		between     bool   // another entry of commits comes first
		expected    uint64 // entries that the leader expects before it
		index, term uint64 // beyond those that the leader expected
		applied     bool
	}{
		"at its place":                   {applied: true},
		"after an entry of Raft":         {index: 1},
		"in another term":                {term: 1},
		"after an entry of commits":      {between: true, index: 1},
		"in place of an entry of a term": {between: true, index: 1, term: 1},
		"at its place, over other state": {between: true, index: 1, expected: 1},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			r.record()
			r.batch(put("before"))
			entry := &raft.Log{
				Type: raft.LogCommand, Index: r.index + 1 + c.index, Term: r.term + c.term,
				Data: r.machine.Pack(r.index+1+c.expected, r.term, r.tick, r.wall, r.encode(put("a"), put("b"))),
			}
			if !holdsDecision(t, entry) {
				t.Fatal("the entry holds commits")
			}
			follower := openPeer(t, storage.MemFS())
			if c.between {
				other := openPeer(t, storage.MemFS()) // it leads, and packs an entry of commits
				other.apply(t, r.log...)
				r.index++
				r.replay(&raft.Log{Type: raft.LogCommand, Index: r.index, Term: r.term, Data: other.Pack(0, 0, r.tick, r.wall, r.encode(put("c")))})
			}
			r.index = entry.Index
			for _, d := range r.replay(entry) {
				if c.applied != (d.Err == nil) || d.Err != nil && (d.Err.Code != agent.CodeUnavailable || d.Err.Final) {
					t.Errorf("a commit was decided as %+v", d)
				}
			}
			follower.apply(t, r.log...)
			if follower.hash(t) != r.hash() {
				t.Error("a follower has other rows than the leader")
			}
			if displaced := r.machine.Counters.Displaced.Load() == 1; displaced == c.applied {
				t.Errorf("an entry was displaced: %v", displaced)
			}
			if _, found := rowSums(t, r.machine)[kv.KindName(kv.KindValue)]; !found {
				t.Fatal("no value was stored")
			}
			values := rowSums(t, r.machine)[kv.KindName(kv.KindValue)].Rows
			want := uint64(1)
			if c.applied {
				want = 3
			}
			if c.between {
				want++
			}
			if values != want {
				t.Errorf("%d values are stored, want %d", values, want)
			}
		})
	}
}

// A machine that has not decided an entry, such as a leader after a restart, applies it, and does
// not know the outcomes.
func TestADecisionOfAnotherReplicaIsAppliedWithoutOutcomes(t *testing.T) {
	r := newSubject(t)
	r.record()
	r.batch(agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "a", Bytes: []byte("x")}}})
	follower := openPeer(t, storage.MemFS())
	follower.apply(t, r.log[:len(r.log)-1]...)
	last := r.log[len(r.log)-1]
	if decided := follower.Apply(last).([]agent.Decided); len(decided) != 1 || decided[0].Err == nil || decided[0].Err.Code != agent.CodeUnknown {
		t.Errorf("the follower tells %+v", decided)
	}
	if follower.hash(t) != r.hash() {
		t.Error("the follower has other rows")
	}
}

// An entry whose commits a leader decides, and then leaves to each replica, counts once.
func TestWhatAnEntryMeetsIsCountedOnce(t *testing.T) {
	r := newOwners(t)
	r.record()
	owned := r.must(7, layout.PartitionAssign, "n1")
	r.must(7, layout.PartitionDrain, "n2")
	r.must(7, layout.PartitionRelease, "")
	once := agent.Commit{
		Fence: &agent.Fence{Claim: layout.PartitionClaim(7), Epoch: owned.Epoch},
		Ops:   []agent.Op{&agent.PutValue{Key: "v"}}, Request: agent.Request{Client: "c", Seq: 1},
	}
	again := once
	again.Fence = nil
	r.batch(once, again) // the fence is one of a commit that shares its entry
	again.Request.Seq = 2
	r.batch(again)
	r.after(2 * leaseTTL).batch(again) // the leases of all nodes lapse
	if holdsDecision(t, r.log[len(r.log)-1]) || !holdsDecision(t, r.log[len(r.log)-2]) {
		t.Fatal("the test needs an entry of each kind")
	}
	c := &r.machine.Counters
	got := txn.EntryCounters{Answered: c.Answered.Load(), SharedFences: c.SharedFences.Load(), LeasesEnded: c.LeasesEnded.Load(), Drained: c.Drained.Load()}
	if want := (txn.EntryCounters{Answered: 2, SharedFences: 1, LeasesEnded: 3, Drained: 1}); got != want {
		t.Errorf("counted %+v, want %+v", got, want)
	}
}

// An entry that changes what each replica keeps in memory besides rows holds its commits. Entries of
// other commits hold decisions, also while an import or a deletion is under way.
func TestAnEntryHoldsItsCommitsIfItChangesMoreThanRows(t *testing.T) {
	source, r := newSubject(t), newOwners(t)
	source.record()
	do[*agent.ValueResult](source, &agent.PutValue{Key: "v"})
	e := exportOf(source, agent.DefaultScope)
	r.record()
	in := func(scope string, ops ...agent.Op) [][]byte {
		return r.encode(agent.Commit{Scope: scope, Ops: ops})
	}
	put := in("other", &agent.PutValue{Key: "a-1"}, &agent.PutValue{Key: "a-2"}, &agent.PutValue{Key: "a-3"})
	steps := []struct {
		what     string
		commits  [][]byte
		decision bool
	}{
		{"a put", put, true},
		{"the begin of an import", in("i", e.begin("i")), false},
		{"a put during the import", put, true},
		{"a step of the import", in("i", &agent.ImportScope{ID: "i", Rows: e.chunks(len(e.rows))[0]}), false},
		{"the end of the import", in("i", &agent.ImportScope{ID: "i", Finish: true}), false},
		{"a put after the import", put, true},
		{"a put into the imported scope", in("i", &agent.PutValue{Key: "w"}), true},
		{"the deletion of the imported scope", in("i", &agent.DeleteScope{}), false},
		{"the limits of all scopes", in("other", &agent.PutScope{Default: true, Policy: agent.Policy{KeysMax: 5}}), false},
		{"a token", in("other", reader("ann", "secret")), false},
		{"a member", [][]byte{r.machine.EncodePutMember(layout.Member{ID: "n4", Incarnation: "data-n4", RaftAddr: "n4"})}, false},
		{"a deletion that is under way", in("other", &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "a"}), false},
	}
	for _, s := range steps {
		if d := r.feed(s.commits)[0]; d.Err != nil {
			t.Fatalf("%s: %v", s.what, d.Err)
		}
		if got := holdsDecision(t, r.log[len(r.log)-1]); got != s.decision {
			t.Errorf("the entry of %s holds a decision: %t", s.what, got)
		}
	}
	follower := openPeer(t, storage.MemFS())
	follower.apply(t, r.log...)
	if follower.hash(t) != r.hash() {
		t.Error("a follower has other rows than the leader")
	}
}

// A decision holds the names of what watchers may wait for, which can be far larger than the commits:
// the name of the scope is in each. No entry is larger than what a replica unpacks.
func TestAnEntryIsNeverLargerThanReplicasUnpack(t *testing.T) {
	names := map[string]func(int) string{
		"two threads":  func(i int) string { return string("ab"[i%2]) },
		"many threads": func(i int) string { return fmt.Sprint(i) },
	}
	for name, thread := range names {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			r.record()
			scope := strings.Repeat("s", agent.IDBytesMax)
			r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{&agent.PutValue{Key: "v"}}})
			var commits []agent.Commit
			for range 40 {
				c := agent.Commit{Scope: scope}
				for i := range agent.CommitOpsMax {
					c.Ops = append(c.Ops, &agent.AppendThread{Thread: thread(i)})
				}
				commits = append(commits, c)
			}
			r.index++
			entry := r.machine.Pack(r.index, r.term, r.tick, r.wall, r.encode(commits...))
			if len(entry) > command.EntryBytesMax {
				t.Fatalf("the entry has %d bytes, more than %d", len(entry), command.EntryBytesMax)
			}
			r.replay(&raft.Log{Type: raft.LogCommand, Index: r.index, Term: r.term, Data: entry})
			if got := do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "after"}); got.Thread.ID != "after" {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// The log has room for one commit of the largest size. A decision of a large commit, which has the name of its scope in
// each row, is no larger.
func TestADecisionIsNoLargerThanTheLargestCommit(t *testing.T) {
	r := newSubject(t)
	r.record()
	scope := strings.Repeat("s", agent.IDBytesMax)
	decided := map[bool]int{}
	for size := 5000; size < 7500; size += 250 {
		c := agent.Commit{Scope: scope}
		for i := range agent.CommitOpsMax {
			c.Ops = append(c.Ops, &agent.PutValue{Key: fmt.Sprint(size, " ", i), Bytes: make([]byte, size)})
		}
		if d := r.batch(c)[0]; d.Err != nil {
			t.Fatal(d.Err)
		}
		entry := r.log[len(r.log)-1]
		decided[holdsDecision(t, entry)]++
		if len(entry.Data) > agent.CommitBytesMax {
			t.Errorf("the entry of a commit of %d values of %d bytes has %d bytes, more than %d",
				len(c.Ops), size, len(entry.Data), agent.CommitBytesMax)
		}
	}
	if decided[true] == 0 || decided[false] == 0 {
		t.Errorf("%d entries held a decision, and %d the commit", decided[true], decided[false])
	}
}
