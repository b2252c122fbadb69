package fsm_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/raft"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

// fillAllKinds leaves at least one row of every kind, with work under way: an erasure, a deletion by
// prefix, an import and the index of metadata. It is a new machine's first entries.
func fillAllKinds(r *subject) {
	r.tb.Helper()
	owners := clusterOps{r}
	for _, node := range []string{"n1", "n2", "gone"} {
		owners.join(node)
	}
	fillEverything(r)
	if err := owners.say(r.machine.EncodeRemoveMember("gone", "data-gone")); err != nil {
		r.tb.Fatal(err)
	}
	if err := owners.renew("n1", "life-1"); err != nil {
		r.tb.Fatal(err)
	}
	owners.must(7, layout.PartitionAssign, "n1")
	if err := owners.renew("n2", "life-1"); err != nil {
		r.tb.Fatal(err)
	}
	owners.rule(r.machine.EncodePinPartition(8, "n1"))
	owners.rule(r.machine.EncodeDrainNode("n2", true))
	request := agent.Commit{Request: agent.Request{Client: "c", Seq: 3, TTL: time.Hour}, Ops: []agent.Op{&agent.PutValue{Key: "asked"}}}
	if d := r.batch(request)[0]; d.Err != nil {
		r.tb.Fatal(d.Err)
	}
	do[*agent.TokenResult](r, reader("ann", "secret"))
	do[*agent.ClaimResult](r, &agent.TakeClaim{Claim: "short", Holder: "h", TTL: time.Minute})
	for _, op := range []agent.Op{&agent.IndexMetadata{Keys: []string{"user"}}, &agent.PutValue{Key: "v", Metadata: tagged("ann")}} {
		if d := r.batch(agent.Commit{Scope: "indexed", Ops: []agent.Op{op}})[0]; d.Err != nil {
			r.tb.Fatal(d.Err)
		}
	}
	fillImport(r)
	fillUnderWay(r)
}

// fillImport leaves an import of the default scope into another that has not ended.
func fillImport(r *subject) {
	r.tb.Helper()
	e := exportOf(r, agent.DefaultScope)
	for _, op := range []*agent.ImportScope{e.begin("i"), {ID: "i", Rows: e.chunks(len(e.rows))[0]}} {
		if d := r.batch(agent.Commit{Scope: "imported", Ops: []agent.Op{op}})[0]; d.Err != nil {
			r.tb.Fatal(d.Err)
		}
	}
}

// fillUnderWay begins what takes several entries, each so large that it does not end in the next one.
func fillUnderWay(r *subject) {
	r.tb.Helper()
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 3}})
	for chunk := range slices.Chunk(keysFrom("bulk", 3000), 300) {
		ops := make([]agent.Op, len(chunk))
		for i, key := range chunk {
			ops[i] = &agent.PutValue{Key: key, Metadata: tagged("ann")}
		}
		do[*agent.ValueResult](r, ops...)
	}
	beginErasure(r)
	do[*agent.ScopeResult](r, &agent.IndexMetadata{Keys: []string{"user"}})
	do[*agent.PrefixDeletion](r, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "bulk"})
}

// sums returns the hash of each kind that has rows.
func (r *subject) sums() map[string]uint64 {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	_, sums, err := view.StateSum(r.tb.Context())
	if err != nil {
		r.tb.Fatal(err)
	}
	kinds := map[string]uint64{}
	for _, s := range sums {
		kinds[s.Kind] = s.Hash
	}
	return kinds
}

// installed returns a new machine that installed a snapshot of r, as a follower does.
func (r *subject) installed() *subject {
	r.tb.Helper()
	from := &peer{Machine: r.machine}
	from.snapshot(r.tb, r.index, r.term)
	follower := newSubject(r.tb)
	if err := (&peer{Machine: follower.machine}).install(from); err != nil {
		r.tb.Fatal(err)
	}
	follower.index, follower.term, follower.tick, follower.wall = r.index, r.term, r.tick, r.wall
	return follower
}

// restarted returns the machine that opens what r has stored, and applies the log from there on, as
// a node does when it starts.
func (r *subject) restarted(fs storage.FS) *subject {
	r.tb.Helper()
	r.close()
	again := openSubject(r.tb, fsm.Options{Dir: "state", FS: fs})
	again.index, again.term, again.tick, again.wall = r.index, r.term, r.tick, r.wall
	for _, e := range r.log {
		if e.Index > again.machine.Applied() {
			again.replay(e)
		}
	}
	return again
}

// A follower that installs a snapshot, and a machine that starts again, have each row of each kind,
// and then decide as the machine does that wrote them: what was under way goes on, and what is due
// expires. A kind without a writer here fails the test.
func TestRowsOfEachKindOutliveASnapshot(t *testing.T) {
	fs := storage.MemFS()
	r := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	fillAllKinds(r)
	want := r.sums()
	for kind, name := range kv.Kinds() {
		if _, ok := want[name]; !ok {
			t.Errorf("no row of kind %q (%s): write one in fillAllKinds", kind, name)
		}
	}
	follower := r.installed()
	if diff := cmp.Diff(want, follower.sums()); diff != "" {
		t.Fatalf("the kinds differ after a snapshot (-leader +follower):\n%s", diff)
	}
	goOn(r, follower)
	if diff := cmp.Diff(r.sums(), follower.sums()); diff != "" {
		t.Fatalf("the kinds differ some entries after a snapshot (-leader +follower):\n%s", diff)
	}
	want = r.sums()
	again := r.restarted(fs)
	if diff := cmp.Diff(want, again.sums()); diff != "" {
		t.Fatalf("the kinds differ after a restart (-before +after):\n%s", diff)
	}
	goOn(again, follower)
	if diff := cmp.Diff(again.sums(), follower.sums()); diff != "" {
		t.Fatalf("the kinds differ some entries after a restart (-restarted +follower):\n%s", diff)
	}
}

// goOn applies the same entries to two machines while an hour passes, and compares their decisions.
func goOn(one, other *subject) {
	one.tb.Helper()
	for i, pass := range []time.Duration{0, time.Second, time.Minute, 10 * time.Minute, time.Hour, time.Hour} {
		one.after(pass)
		encoded := one.encode(agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: fmt.Sprint("after-", i)}}})
		one.index++
		other.index, other.tick, other.wall = one.index, one.tick, one.wall
		entry := &raft.Log{Type: raft.LogCommand, Index: one.index, Term: one.term, Data: one.machine.Pack(0, 0, one.tick, one.wall, encoded)} // which both decide
		if diff := cmp.Diff(one.replay(entry), other.replay(entry)); diff != "" {
			one.tb.Fatalf("entry %d is decided otherwise (-one +other):\n%s", one.index, diff)
		}
	}
}

// Each kind has a name of its own.
func TestEachKindHasAName(t *testing.T) {
	files, err := filepath.Glob("kv/*.go")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	names, seen := kv.Kinds(), map[string]bool{}
	for _, file := range files {
		parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(parsed, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Kind") || len(spec.Values) != 1 {
				return true
			}
			literal, ok := spec.Values[0].(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			kind, err := strconv.Unquote(literal.Value)
			if err != nil {
				t.Fatal(err)
			}
			if name := names[kind]; name == "" || seen[name] {
				t.Errorf("%s has the name %q", spec.Names[0].Name, name)
			}
			seen[names[kind]] = true
			return true
		})
	}
	if len(seen) != len(names) {
		t.Errorf("%d kinds, and %d names", len(seen), len(names))
	}
	if kv.KindName("\xff") != "unknown" || kv.KindName("") != "unknown" {
		t.Error("a kind of another version has a name")
	}
}
