package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// importedRow returns a row of an import: parts are an id and numbers.
func importedRow(tb testing.TB, kind, id string, m proto.Message, numbers ...uint64) agent.ScopeRow {
	tb.Helper()
	value, err := proto.Marshal(m)
	if err != nil {
		tb.Fatal(err)
	}
	key := kind + id + kv.Separator
	for _, n := range numbers {
		key += kv.EncodeNumber(n)
	}
	return agent.ScopeRow{Key: []byte(key), Value: value}
}

func TestAnImportCountsTheRowsThatArrive(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	for _, op := range []agent.Op{
		&agent.AppendThread{Thread: "cut", Entries: drafts(`{"n":1}`, `{"n":2}`, `{"n":3}`, `{"n":4}`)},
		&agent.CompactThread{Thread: "cut", BeforeSeq: 2},
		&agent.ForkThread{Thread: "cut", NewThread: "cut-fork"},
		&agent.AppendThread{Thread: "cut-fork", Entries: drafts(`{"n":1}`, `{"n":2}`)},
		&agent.CompactThread{Thread: "cut-fork", BeforeSeq: 5},
		&agent.AppendThread{Thread: "emptied", Entries: drafts(`{"n":1}`)},
		&agent.CompactThread{Thread: "emptied", BeforeSeq: 1},
		&agent.AppendThread{Thread: "refilled", Entries: drafts(`{"n":1}`)},
		&agent.CompactThread{Thread: "refilled", BeforeSeq: 1},
		&agent.AppendThread{Thread: "refilled", Entries: drafts(`{"n":"after"}`)},
	} {
		if _, err := source.try(op); err != nil {
			t.Fatalf("%T: %v", op, err)
		}
	}
	e := exportOf(source, agent.DefaultScope)
	want := e.header.Scope
	e.header.Scope.Keys, e.header.Scope.Bytes = 1<<63, 7
	for _, size := range []int{1, 7, len(e.rows)} {
		target := newSubject(t)
		target.record()
		importInto(target, agent.DefaultScope, e, size)
		if diff := cmp.Diff(want, exportOf(target, agent.DefaultScope).header.Scope); diff != "" {
			t.Fatalf("chunks of %d rows (-source +target):\n%s", size, diff)
		}
	}
}

// An import that begins below the level from which steps count has the keys and bytes of its header: the steps after
// the upgrade do not count their rows again.
func TestAnImportThatGoesOnAfterAnUpgradeCountsEachRowOnce(t *testing.T) {
	source := newSubject(t)
	fillEverything(source)
	e := exportOf(source, agent.DefaultScope)
	chunks := e.chunks(7)
	for _, before := range []int{0, 1, len(chunks)} { // chunks that are imported before the upgrade
		t.Run(fmt.Sprint(before), func(t *testing.T) {
			target := newSubject(t)
			target.raise(txn.ImportCountLevel - 1)
			do[*agent.ImportResult](target, e.begin("i"))
			for i, chunk := range chunks {
				if i == before {
					target.raise(txn.ImportCountLevel)
				}
				do[*agent.ImportResult](target, &agent.ImportScope{ID: "i", Chunk: uint64(i), Rows: chunk})
			}
			target.record()
			for !do[*agent.ImportResult](target, &agent.ImportScope{ID: "i", Finish: true}).Done {
			}
			if diff := cmp.Diff(e.header.Scope, exportOf(target, agent.DefaultScope).header.Scope); diff != "" {
				t.Errorf("(-source +target):\n%s", diff)
			}
		})
	}
}

func TestARowThatIsImportedTwiceCountsOnce(t *testing.T) {
	r := newSubject(t)
	r.record()
	do[*agent.ImportResult](r, exportedScope{}.begin("i"))
	long := importedRow(t, kv.KindValue, "v", &logpb.ValueRow{Size: 70})
	short := importedRow(t, kv.KindValue, "v", &logpb.ValueRow{Size: 30})
	chunk := agent.AppendScopeRow(agent.AppendScopeRow(nil, long), short)
	do[*agent.ImportResult](r, &agent.ImportScope{ID: "i", Rows: chunk})
	if s := scopeOf(r); s.Keys != 1 || s.Bytes != 30 {
		t.Errorf("the scope counts %d keys and %d bytes, want 1 and 30", s.Keys, s.Bytes)
	}
}

func TestARefusedStepOfAnImportCountsNothing(t *testing.T) {
	r := newSubject(t)
	r.record()
	scope := strings.Repeat("s", agent.IDBytesMax) // the key of each row has it
	step := func(op *agent.ImportScope) *agent.Error {
		return r.batch(agent.Commit{Scope: scope, Ops: []agent.Op{op}})[0].Err
	}
	if err := step(exportedScope{}.begin("i")); err != nil {
		t.Fatal(err)
	}
	var chunk []byte
	for n := range agent.CommitRowsBytesMax / len(scope) {
		chunk = agent.AppendScopeRow(chunk, importedRow(t, kv.KindThread, fmt.Sprint(n), &logpb.ThreadMeta{}))
	}
	if err := step(&agent.ImportScope{ID: "i", Rows: chunk}); err == nil || err.Code != agent.CodeTooLarge {
		t.Fatalf("the step: %v", err)
	}
	view := r.machine.View()
	defer view.Close()
	answer := view.Answer(scope, &agent.GetScope{})
	if s, ok := answer.Found.(*agent.Scope); !ok || s.Keys != 0 || s.Threads != 0 {
		t.Errorf("after a refused step the scope is %+v, %v", answer.Found, answer.Err)
	}
}

func TestNumbersThatNoOpWritesAreRefused(t *testing.T) {
	r := newSubject(t)
	r.record()
	begin := exportedScope{}.begin("i")
	begin.Minted = agent.ScopeMintedMax + 1
	r.refused(agent.CodeInvalid, "incarnations and epochs are numbers in JSON", begin)
	begin.Minted = 1000
	do[*agent.ImportResult](r, begin)
	const huge = 1 << 62
	for name, row := range map[string]agent.ScopeRow{
		"an incarnation of later":     importedRow(t, kv.KindValue, "v", &logpb.ValueRow{Incarnation: 2000 << 16}),
		"a size":                      importedRow(t, kv.KindValue, "v", &logpb.ValueRow{Size: huge}),
		"a rev":                       importedRow(t, kv.KindThread, "t", &logpb.ThreadMeta{Rev: huge}),
		"a floor":                     importedRow(t, kv.KindThread, "t", &logpb.ThreadMeta{Rev: 1, Floor: 2}),
		"an offset":                   importedRow(t, kv.KindEntry, "t", &logpb.EntryRow{Offset: huge}, 1, 0),
		"the end of reviews":          importedRow(t, kv.KindSession, "s", &logpb.SessionRow{ReviewsEnd: huge, PendingReviews: 1}),
		"more reviews than there are": importedRow(t, kv.KindSession, "s", &logpb.SessionRow{ReviewsEnd: 1, PendingReviews: 2}),
		"the end of requests":         importedRow(t, kv.KindSession, "s", &logpb.SessionRow{RequestSizes: []uint64{1}}),
	} {
		if _, err := r.try(&agent.ImportScope{ID: "i", Rows: agent.AppendScopeRow(nil, row)}); err == nil || err.Code != agent.CodeInvalid {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestListsOfAnImportAreBounded imports each list as long as ops make it, and one longer.
func TestListsOfAnImportAreBounded(t *testing.T) {
	r := newSubject(t)
	r.record()
	begin := exportedScope{}.begin("i")
	begin.Minted = 1000
	do[*agent.ImportResult](r, begin)
	chunk := uint64(0)
	for limit, test := range map[string]struct {
		most int
		row  func(n int) agent.ScopeRow
	}{
		"history_max": {agent.HistoryMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindCheckpoint, "c", &logpb.CheckpointRow{Revision: 2000, Kept: make([]uint64, n)})
		}},
		"kept has 1001 items, more than history_max": {agent.HistoryMax, func(n int) agent.ScopeRow {
			body := &logpb.CheckpointBody{}
			if n > agent.HistoryMax {
				body.Row = &logpb.CheckpointRow{Kept: make([]uint64, n)}
			}
			return importedRow(t, kv.KindCheckpointBody, "c", body, 1, 0)
		}},
		"fork_segments_max": {agent.ForkSegmentsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindThread, "t", &logpb.ThreadMeta{Segments: repeated[logpb.Segment](n)})
		}},
		"session_snapshots_max": {agent.SessionSnapshotsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindSession, "s", &logpb.SessionRow{SnapshotsEnd: 1000, Snapshots: repeated[logpb.KeptSnapshot](n)})
		}},
		"turn.snapshots has 17 items, more than session_snapshots_max": {agent.SessionSnapshotsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindSession, "s", &logpb.SessionRow{Turn: &logpb.TurnStart{Snapshots: repeated[logpb.KeptSnapshot](n)}})
		}},
		"session_requests_max": {agent.SessionRequestsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindSession, "s", &logpb.SessionRow{RequestsEnd: 1000, RequestSizes: make([]uint64, n)})
		}},
		"session_queue_max": {agent.SessionQueueMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindSession, "s", &logpb.SessionRow{QueueEnd: 1000, QueueSizes: make([]uint64, n)})
		}},
		"review_deciders_max": {agent.ReviewDecidersMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindReview, "r", &logpb.ReviewRow{Deciders: make([]string, n)})
		}},
		"conversation_pending_max": {agent.ConversationPendingMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindConversationPending, "c", &logpb.PendingRow{Messages: repeated[logpb.PendingMessage](n)})
		}},
		"memory_tags_max": {agent.MemoryTagsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindMemory, "a"+kv.Separator+"m", &logpb.MemoryRow{Tags: make([]string, n)})
		}},
		"embedding_max": {agent.EmbeddingMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindMemoryBody, "a"+kv.Separator+"m", &logpb.MemoryBody{Embedding: make([]float32, n)})
		}},
		"manager_skips_max": {agent.ManagerSkipsMax, func(n int) agent.ScopeRow {
			return importedRow(t, kv.KindManager, "m", &logpb.ManagerRow{Settings: &logpb.ManagerSettings{SkipsPersist: make([]string, n)}})
		}},
	} {
		r.refused(agent.CodeInvalid, fmt.Sprintf("%s = %d", limit, test.most),
			&agent.ImportScope{ID: "i", Chunk: chunk, Rows: agent.AppendScopeRow(nil, test.row(test.most+1))})
		do[*agent.ImportResult](r, &agent.ImportScope{ID: "i", Chunk: chunk, Rows: agent.AppendScopeRow(nil, test.row(test.most))})
		chunk++
	}
}

// repeated returns n empty messages.
func repeated[T any](n int) []*T {
	all := make([]*T, n)
	for i := range all {
		all[i] = new(T)
	}
	return all
}

// TestReviewsOfAnImportedSessionAreReadInBounds reads sessions whose rows name reviews that do not exist.
func TestReviewsOfAnImportedSessionAreReadInBounds(t *testing.T) {
	session := &logpb.SessionRow{Mode: string(agent.SessionModeClassic), Status: string(agent.SessionWaiting), PendingReviews: 1, ReviewsEnd: 1 << 40}
	rows := []agent.ScopeRow{
		importedRow(t, kv.KindSession, "s", session),
		importedRow(t, kv.KindSessionBody, "s", &logpb.SessionBody{}),
	}
	named := agent.ScopeRow{Key: []byte(kv.KindReviewSession + "s" + kv.Separator + kv.EncodeNumber(0)), Value: []byte("v")}
	for name, c := range map[string]struct {
		rows []agent.ScopeRow
		code agent.Code
	}{
		"none":    {rows, ""},
		"missing": {append(slices.Clone(rows), named), agent.CodeCorrupt},
	} {
		t.Run(name, func(t *testing.T) {
			r := newSubject(t)
			r.record()
			importInto(r, agent.DefaultScope, exportedScope{rows: c.rows}, 10)
			a := r.answer(&agent.GetSession{Session: "s"})
			if (a.Err == nil) != (c.code == "") || a.Err != nil && a.Err.Code != c.code {
				t.Errorf("%+v, %v", a.Found, a.Err)
			}
		})
	}
}
