package fsm_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/command/commandtest"
	"dormouse/fsm/kv"
	logpb "dormouse/proto/log"
)

// fillEverything leaves rows of every kind in the default scope.
func fillEverything(r *subject) {
	r.tb.Helper()
	r.record()
	step := func(ops ...agent.Op) {
		r.tb.Helper()
		if _, err := r.try(ops...); err != nil {
			r.tb.Fatalf("%T: %v", ops[len(ops)-1], err)
		}
	}
	step(&agent.PutScope{Policy: agent.Policy{History: 3, HistoryAgeMS: 3_600_000, KeysMax: 1000}})
	step(&agent.PutValue{Key: "v", Bytes: []byte("x"), TTL: time.Hour}, &agent.PutValue{Key: "gone", Bytes: []byte("y")})
	step(&agent.DeleteValue{Key: "gone", Seal: time.Minute})
	for range 3 {
		step(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "", Kind: "note", Payload: agent.JSON(`{"n":1}`)}}})
		rev := read[*agent.Thread](r, &agent.GetThread{Thread: "t"}).Rev
		step(pointing("c", "t", rev))
	}
	step(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "chosen", Payload: agent.JSON(`{}`)}}})
	step(appendTo("shared", `{}`), &agent.ForkThread{Thread: "shared", NewThread: "shares"}, &agent.DeleteThread{Thread: "shared"})
	step(&agent.ForkThread{Thread: "t", NewThread: "fork"}, &agent.PutCheckpoint{Key: "old", State: agent.JSON(`{}`)})
	step(&agent.AppendThread{Thread: "long", Entries: drafts(`{}`, `{}`, `{}`)})
	step(&agent.CompactThread{Thread: "long", BeforeSeq: 2, Summary: agent.JSON(`{"s":1}`)}, &agent.SetTTL{Thread: "long", TTL: time.Hour})
	step(&agent.DeleteCheckpoint{Key: "old"}, &agent.AppendThread{Thread: "dead"})
	step(&agent.DeleteThread{Thread: "dead"})
	for _, id := range []string{"m1", "m2", "m3"} {
		step(&agent.WriteMemory{Agent: "a", ID: id, Session: "s", Content: "tea " + id, Embedding: []float32{1, 2}, TTL: time.Hour})
	}
	step(&agent.DeleteMemory{Agent: "a", ID: "m2"})
	for _, op := range commandtest.ManagerSeeds()[:1] {
		step(op)
	}
	step(&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: "soon", Next: r.wall + 1, Data: agent.JSON(`{"d":1}`)}})
	step(&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: "later", Next: r.wall + 86_400_000}})
	fill(r, "conversation")
	step(&agent.SaveConversation{ConversationRef: agent.ConversationRef{ID: "named", Agent: "a", Owner: "o"}, Lifecycle: agent.LifecycleCompletion, State: blob("2")})
	step(&agent.SetInterrupted{ConversationRef: conv("conversation"), Interrupted: true})
	fill(r, "dead")
	step(&agent.DeleteConversation{ConversationRef: conv("dead")})
	fillSessions(r, step)
	step(&agent.PutCheckpoint{Key: "erased", State: agent.JSON(`{}`)})
	step(&agent.EraseAgent{Agent: "erased", Seal: time.Hour})
	step(&agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour})
	r.after(time.Second)
	step(&agent.PutValue{Key: "tick"})
}

func fillSessions(r *subject, step func(...agent.Op)) {
	r.tb.Helper()
	step(&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Busy: agent.BusyEnqueue, Thread: "t", Checkpoint: "c"}})
	claimed := do[*agent.SessionResult](r, &agent.ClaimSession{Session: "s", Owner: "o", Request: asking("q"), TTL: time.Hour})
	lease := agent.LeaseID(claimed.Session.Lease.Epoch)
	step(&agent.ClaimSession{Session: "s", Owner: "p", Request: asking("queued")})
	step(&agent.CheckpointSession{
		Session: "s", LeaseID: lease, Owner: "o", TTL: time.Hour, Snapshot: snapshot("n"),
		Reviews: []agent.ReviewDraft{{ID: "v", TTL: time.Hour, Assignee: "ada"}},
	})
	step(&agent.PutSession{Session: "lapsed", Agent: "a"})
	step(&agent.ClaimSession{Session: "lapsed", Owner: "o", Request: asking("q"), TTL: time.Second})
	r.after(time.Minute)
	step(&agent.PutSession{Session: "dead", Agent: "a"})
	step(&agent.DeleteSession{Session: "dead"})
}

// beginErasure leaves an erasure that is not complete.
func beginErasure(r *subject) {
	r.tb.Helper()
	for i := range 6 {
		var ops []agent.Op
		for j := range 100 {
			ops = append(ops, &agent.PutSession{Session: fmt.Sprintf("many-%d-%d", i, j), Agent: "many"})
		}
		do[*agent.SessionResult](r, ops...)
	}
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "many", State: agent.JSON(`{}`)})
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: "many"})
	live := agent.InstanceRef{Manager: "m", Key: "live"}.Checkpoint()
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: live, State: agent.JSON(`{}`)})
	do[*agent.Erasure](r, &agent.EraseAgent{Agent: live})
}

type exportedScope struct {
	header agent.ScopeHeader
	rows   []agent.ScopeRow
}

func exportOf(r *subject, scope string) (out exportedScope) {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	err := view.ExportScope(r.tb.Context(), scope, "cluster", r.machine.FeatureLevel(), func(p agent.ScopePart) error {
		if p.Header != nil {
			out.header = *p.Header
		}
		for rest := p.Rows; len(rest) > 0; {
			var row agent.ScopeRow
			var err error
			if row, rest, err = agent.NextScopeRow(rest); err != nil {
				return err
			}
			out.rows = append(out.rows, row)
		}
		return nil
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	return out
}

// chunks packs the rows into chunks of at most times rows.
func (e exportedScope) chunks(times int) (chunks [][]byte) {
	for rows := range slices.Chunk(e.rows, times) {
		var chunk []byte
		for _, row := range rows {
			chunk = agent.AppendScopeRow(chunk, row)
		}
		chunks = append(chunks, chunk)
	}
	return chunks
}

func (e exportedScope) begin(id string) *agent.ImportScope {
	return &agent.ImportScope{ID: id, Scope: &e.header.Scope, Minted: e.header.Minted}
}

func importInto(r *subject, scope string, e exportedScope, size int) {
	r.tb.Helper()
	step := func(op *agent.ImportScope) *agent.ImportResult {
		r.tb.Helper()
		var out *agent.ImportResult
		for range 2 { // each is sent again
			d := r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{op}})[0]
			if d.Err != nil {
				r.tb.Fatal(d.Err)
			}
			out, _ = d.Result.Results[0].(*agent.ImportResult)
		}
		return out
	}
	step(e.begin("i"))
	for i, chunk := range e.chunks(size) {
		if got := step(&agent.ImportScope{ID: "i", Chunk: uint64(i), Rows: chunk}); got.Chunks != uint64(i+1) || got.Done {
			r.tb.Fatalf("after chunk %d: %+v", i, got)
		}
	}
	for !step(&agent.ImportScope{ID: "i", Finish: true}).Done {
	}
}

func TestEveryKindOfAScopeMovesOrIsSaidToStay(t *testing.T) {
	known := append(fsm.MovedKinds(), fsm.StayingKinds()...)
	slices.Sort(known)
	if diff := cmp.Diff(fsm.ScopedKinds(), known); diff != "" {
		t.Fatalf("kinds of a scope that export does not know, or knows twice (-scoped +known):\n%s", diff)
	}
	r := newSubject(t)
	fillEverything(r)
	beginErasure(r)
	e := exportOf(r, agent.DefaultScope)
	for _, row := range e.rows {
		if receipt := (&logpb.Erasure{}); string(row.Key[:1]) == kv.KindErasure {
			if err := proto.Unmarshal(row.Value, receipt); err != nil || receipt.ErasedIndex != 0 {
				t.Errorf("the receipt %q has an index of this log, %d: %v", row.Key, receipt.ErasedIndex, err)
			}
		}
	}
	var missing []string
	for _, kind := range fsm.MovedKinds() {
		if !slices.ContainsFunc(e.rows, func(row agent.ScopeRow) bool { return string(row.Key[:1]) == kind }) {
			missing = append(missing, kind)
		}
	}
	if len(missing) > 0 {
		t.Errorf("no row of kinds %q: the test does not show that they move", missing)
	}
	if !slices.IsSortedFunc(e.rows, func(a, b agent.ScopeRow) int { return bytes.Compare(a.Key, b.Key) }) {
		t.Error("the rows are not in order")
	}
}

// A session with a lease is exported as recoverable, in the order of those that are.
func TestSessionsWithALeaseAreExportedInOrder(t *testing.T) {
	r := newSubject(t)
	r.record()
	for session, ttl := range map[string]time.Duration{"a": time.Hour, "b": time.Second, "c": time.Hour} {
		do[*agent.SessionResult](r, &agent.PutSession{Session: session, Agent: "x"},
			&agent.ClaimSession{Session: session, Owner: "o", Request: asking("q"), TTL: ttl})
	}
	r.after(time.Minute).pass() // the lease of b lapses
	var got []string
	for _, row := range exportOf(r, agent.DefaultScope).rows {
		if string(row.Key[:1]) == kv.KindSessionRecoverable {
			got = append(got, strings.TrimSuffix(string(row.Key[1:]), kv.Separator))
		}
	}
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("exported %q as recoverable, want %q", got, want)
	}
}

func TestAnImportedScopeIsTheExportedOne(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	e := exportOf(source, agent.DefaultScope)
	for _, size := range []int{1, 7, len(e.rows)} {
		target := newSubject(t)
		target.record()
		target.after(time.Duration(source.wall-target.wall) * time.Millisecond)
		importInto(target, agent.DefaultScope, e, size)
		again := exportOf(target, agent.DefaultScope)
		if diff := cmp.Diff(e.rows, again.rows); diff != "" {
			t.Fatalf("the rows differ (-source +target):\n%s", diff)
		}
		if diff := cmp.Diff(e.header.Scope, again.header.Scope); diff != "" {
			t.Fatalf("the scope differs (-source +target):\n%s", diff)
		}
		for _, q := range []agent.Read{
			&agent.GetValue{Key: "v"}, &agent.GetCheckpoint{Key: "c"}, &agent.CheckpointHistory{Key: "c"}, &agent.LoadEntries{Thread: "fork"},
			&agent.VerifyThread{Thread: "t"}, &agent.GetThread{Thread: "long"}, &agent.ListMemories{Agent: "a"}, &agent.GetSession{Session: "lapsed"},
			&agent.Recall{Agent: "a", Query: "tea", Mode: agent.ModeText}, &agent.ListReviews{Assignee: "ada"}, &agent.GetConversation{ConversationRef: agent.ConversationRef{ID: "named"}},
			&agent.ListConversations{Agent: "a"}, &agent.ListManagers{}, &agent.ListTimers{Manager: "m"}, &agent.GetErasure{Agent: "erased"},
		} {
			if diff := cmp.Diff(source.answer(q), target.answer(q)); diff != "" {
				t.Errorf("%T answers otherwise (-source +target):\n%s", q, diff)
			}
		}
	}
}

// TestAnImportIsNotSlowedByTheRatesThatItBrings reads the limits of a scope before the end of its import and after it.
func TestAnImportIsNotSlowedByTheRatesThatItBrings(t *testing.T) {
	source := newSubject(t)
	source.record()
	policy := agent.Policy{AgentsMax: 1, RequestsPerSecond: 1, BytesPerSecond: 1}
	do[*agent.ScopeResult](source, &agent.PutScope{Policy: policy})
	e := exportOf(source, agent.DefaultScope)
	target := newSubject(t)
	target.record()
	do[*agent.ImportResult](target, e.begin("i"))
	if got := target.machine.PolicyOf(agent.DefaultScope); got != (agent.Policy{}) {
		t.Errorf("during the import: %+v", got)
	}
	do[*agent.ImportResult](target, &agent.ImportScope{ID: "i", Finish: true})
	if got := target.machine.PolicyOf(agent.DefaultScope); got != policy {
		t.Errorf("after it: %+v", got)
	}
}

func TestIncarnationsAndEpochsGoOnAboveTheSource(t *testing.T) {
	source := newSubject(t)
	for range 100 {
		do[*agent.ClaimResult](source, &agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour})
	}
	before := do[*agent.ClaimResult](source, &agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour}).Claim.Epoch
	target := newSubject(t)
	importInto(target, agent.DefaultScope, exportOf(source, agent.DefaultScope), 1)
	if after := do[*agent.ClaimResult](target, &agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour}).Claim.Epoch; after <= before {
		t.Fatalf("epoch %d follows %d", after, before)
	}
	third := newSubject(t)
	importInto(third, agent.DefaultScope, exportOf(target, agent.DefaultScope), 1)
	if again := do[*agent.ClaimResult](third, &agent.TakeClaim{Claim: "lock", Holder: "h", TTL: time.Hour}).Claim.Epoch; again <= before {
		t.Fatalf("after a second move epoch %d follows %d", again, before)
	}
}

func TestAScopeThatIsBeingImportedIsNeitherReadNorWritten(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	e := exportOf(source, agent.DefaultScope)
	r := newSubject(t)
	do[*agent.ImportResult](r, e.begin("i"))
	do[*agent.ImportResult](r, &agent.ImportScope{ID: "i", Rows: e.chunks(5)[0]})
	r.refused(agent.CodeConflict, "is being imported", &agent.PutValue{Key: "v"})
	r.refused(agent.CodeConflict, "is being imported", e.begin("another"))
	r.refused(agent.CodeConflict, "is not the next one", &agent.ImportScope{ID: "i", Chunk: 2, Rows: e.chunks(5)[1]})
	r.missing(agent.CodeConflict, &agent.GetValue{Key: "v"})
	if got := scopeOf(r); got.Policy != e.header.Scope.Policy {
		t.Errorf("the scope's policy is %+v", got.Policy)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	r.refused(agent.CodeConflict, "is not empty", e.begin("i"))
}

// An import concerns what its scope holds. The cluster's own changes, tokens and the default policy go on,
// although they are often made in the scope that is imported.
func TestAnImportLeavesTheClusterAlone(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	e := exportOf(source, agent.DefaultScope)
	r := newOwners(t)
	r.record()
	do[*agent.ImportResult](r.subject, e.begin("i"))
	do[*agent.ImportResult](r.subject, &agent.ImportScope{ID: "i", Rows: e.chunks(5)[0]})
	if err := r.renew("n1", "life-1"); err != nil {
		t.Errorf("renew a lease: %v", err)
	}
	r.must(1, layout.PartitionAssign, "n1")
	r.join("n9")
	do[*agent.ScopeResult](r.subject, &agent.PutScope{Default: true, Policy: agent.Policy{History: 3}})
	token := do[*agent.TokenResult](r.subject, reader("ada", "secret")).Token
	read[*agent.Token](r.subject, &agent.GetToken{ID: token.ID})
	r.subject.refused(agent.CodeConflict, "is being imported", &agent.PutScope{Policy: agent.Policy{History: 3}})
	if _, err := r.try(&agent.RevokeToken{ID: token.ID}, &agent.PutValue{Key: "v"}); err == nil || err.Code != agent.CodeConflict {
		t.Errorf("a value beside a token: %v", err)
	}
	do[*agent.DeleteResult](r.subject, &agent.RevokeToken{ID: token.ID})
}

// refused is refusal with a check of the message.
func (r *subject) refused(code agent.Code, text string, op agent.Op) {
	r.tb.Helper()
	_, err := r.try(op)
	if err == nil || err.Code != code || !strings.Contains(err.Detail, text) {
		r.tb.Fatalf("%T: %v, want %s with %q", op, err, code, text)
	}
}

func TestWhatExpiresGoesAfterAnImportToo(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	beginErasure(source)
	target := newSubject(t)
	target.record()
	importInto(target, agent.DefaultScope, exportOf(source, agent.DefaultScope), 100)
	endings, _, err := target.machine.Endings("", 10)
	if err != nil || len(endings) != 1 {
		t.Fatalf("instances to be ended: %+v, %v", endings, err)
	}
	if d := target.feed([][]byte{target.machine.EncodeEndInstance(endings[0], false)}); d[0].Err != nil {
		t.Fatal(d[0].Err)
	}
	for range 20 {
		target.after(30 * 24 * time.Hour)
		do[*agent.ValueResult](target, &agent.PutValue{Key: "tick"})
	}
	for _, kind := range []string{"\x32", "\x39", "\x3b", "\x46", "\x50", "\x57", "\x61", "\x8a", "\x8c", "\x8d"} {
		if n := target.rows(kind); n != 0 {
			t.Errorf("%d rows of kind %q stay", n, kind)
		}
	}
	if due, _, _, err := target.machine.DueTimers("", 100); err != nil || len(due) != 2 {
		t.Errorf("timers due: %+v, %v", due, err)
	}
}

// Inconsistent rows are refused as corrupt when an op reads them, and stop no replica.
func TestRowsThatDoNotFitTogetherStopNoReplica(t *testing.T) {
	meta, err := proto.Marshal(&logpb.ThreadMeta{Incarnation: 1, Rev: 5, Head: make([]byte, 32), ExpiresAt: startWall + 1000})
	if err != nil {
		t.Fatal(err)
	}
	r := newSubject(t)
	importInto(r, agent.DefaultScope, exportedScope{rows: []agent.ScopeRow{{Key: []byte("\x40t\x00"), Value: meta}}}, 1)
	r.refused(agent.CodeCorrupt, "are inconsistent", &agent.HibernateThread{Thread: "t", Rev: 5, FromSeq: 3, Entries: drafts(`{}`, `{}`)})
	r.after(time.Hour)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "other"})
}

// The answer of a commit may have a pointer from an import in it. If it cannot be decoded when the commit
// is sent again, that is refused, and stops no replica.
func TestAnAnswerWithADamagedPointerStopsNoReplica(t *testing.T) {
	r := newSubject(t)
	row := &logpb.CheckpointRow{Incarnation: 1, Revision: 1, Thread: &logpb.Pointer{Thread: "t", Head: []byte("short")}}
	importInto(r, agent.DefaultScope, exportedScope{rows: []agent.ScopeRow{
		importedRow(t, kv.KindCheckpoint, "c", row),
	}}, 1)
	commit := agent.Commit{
		Request: agent.Request{Client: "client", Seq: 1, Low: 1},
		Ops:     []agent.Op{&agent.PutCheckpoint{Key: "c", State: agent.JSON(`{}`), SkipExisting: true}},
	}
	if d := r.batch(commit)[0]; d.Err != nil {
		t.Fatal(d.Err)
	}
	if d := r.batch(commit)[0]; d.Err == nil || d.Err.Code != agent.CodeCorrupt {
		t.Fatalf("sent again: %+v, %v", d.Result, d.Err)
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "other"})
}

// refusedDueRows returns rows that are due, and whose removal is refused.
func refusedDueRows(tb testing.TB) map[string]agent.ScopeRow {
	tb.Helper()
	const soon = startWall + 1000
	return map[string]agent.ScopeRow{
		"a review of no session":         importedRow(tb, kv.KindReview, "v", &logpb.ReviewRow{Status: string(agent.ReviewPending), ExpiresAt: soon}),
		"a session whose id is too long": importedRow(tb, kv.KindSession, strings.Repeat("s", agent.IDBytesMax), &logpb.SessionRow{ExpiresAt: soon}),
		"a fork of a thread without a name": importedRow(tb, kv.KindThread, "t", &logpb.ThreadMeta{
			Rev: 1, Head: make([]byte, 32), ExpiresAt: soon, Segments: []*logpb.Segment{{To: 1}},
		}),
	}
}

// A sweep has no caller that it could refuse: a due row of an import whose removal is refused stays.
func TestDueRowsThatDoNotFitTogetherStopNoReplica(t *testing.T) {
	for name, row := range refusedDueRows(t) {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			r.record()
			importInto(r, agent.DefaultScope, exportedScope{rows: []agent.ScopeRow{row}}, 1)
			r.after(time.Hour).pass()
			do[*agent.ValueResult](r, &agent.PutValue{Key: "other"})
			if sweepIsBehind(r) {
				t.Error("the row stays in the queue")
			}
		})
	}
}

func TestRowsThatAreNoneAreRefused(t *testing.T) {
	r := newSubject(t)
	do[*agent.ImportResult](r, exportedScope{}.begin("i"))
	for name, row := range map[string]agent.ScopeRow{
		"no key":             {},
		"a member":           {Key: []byte("\x02n")},
		"a claim":            {Key: []byte("\x48c\x00")},
		"an unknown kind":    {Key: []byte("\xeex\x00")},
		"without an id":      {Key: []byte("\x30\x00")},
		"an id and more":     {Key: []byte("\x30v\x00more")},
		"a number cut short": {Key: []byte("\x41t\x00\x00\x00")},
		"a damaged value":    {Key: []byte("\x30v\x00"), Value: []byte("\xff\xff")},
		"an index's value":   {Key: []byte("\x5dready\x00s\x00")},
	} {
		if _, err := r.try(&agent.ImportScope{ID: "i", Rows: agent.AppendScopeRow(nil, row)}); err == nil || err.Code != agent.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
	r.refuse(agent.CodeInvalid, &agent.ImportScope{ID: "i", Rows: []byte("\x05ab")})
}

// FuzzImport imports arbitrary rows and then works on the scope: apply never panics, nor stops the
// replica.
func FuzzImport(f *testing.F) {
	source := newSubject(f)
	fillEverything(source)
	for _, chunk := range exportOf(source, agent.DefaultScope).chunks(3) {
		f.Add(chunk)
	}
	for _, row := range refusedDueRows(f) {
		f.Add(agent.AppendScopeRow(nil, row))
	}
	f.Fuzz(func(t *testing.T, rows []byte) {
		if len(rows) == 0 {
			return
		}
		r := newSubject(t)
		for _, op := range []agent.Op{
			exportedScope{}.begin("i"), &agent.ImportScope{ID: "i", Rows: rows}, &agent.ImportScope{ID: "i", Finish: true},
			appendTo("t", `{"n":1}`), pointing("c", "t", 1), &agent.PutValue{Key: "v"}, &agent.DeleteMemory{Agent: "a", ID: "m1"},
			&agent.CompactThread{Thread: "t", BeforeSeq: 1}, &agent.DeleteSession{Session: "s"}, &agent.EraseAgent{Agent: "a"},
			&agent.DeleteConversation{ConversationRef: conv("conversation")}, &agent.DeleteScope{},
		} {
			_, _ = r.try(op)
			r.after(time.Hour)
		}
	})
}
