package fsm_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
)

// queueRows is the kind of the rows of the wall queue.
const queueRows = "\x13"

// A fork is a few bytes in the log, and copies many rows.
func TestACommitWritesSoMuchAndNotMore(t *testing.T) {
	r := newSubject(t)
	state := agent.JSON(`{"x":"` + strings.Repeat("x", 1<<20-8) + `"}`)
	do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "a", State: state})
	forks := func(from, n int) (ops []agent.Op) {
		for i := range n {
			ops = append(ops, &agent.ForkAgent{Agent: "a", NewAgent: fmt.Sprintf("b%d", from+i)})
		}
		return ops
	}
	const fit = agent.CommitRowsBytesMax>>20 - 1 // each is its state and some overhead
	if e := r.refusal(agent.CodeTooLarge, forks(0, fit+1)...); e.Limit != "commit_rows_bytes_max=67108864" || e.Op != fit {
		t.Fatalf("refused with %+v", e)
	}
	r.missing(agent.CodeNotFound, &agent.GetCheckpoint{Key: "b0"})
	// An entry is bounded too, however many commits are in it.
	commit := agent.Commit{Ops: forks(0, fit)}
	last := agent.Commit{Ops: forks(2*fit, 1)}
	decided := r.batch(commit, agent.Commit{Ops: forks(fit, fit)}, last)
	if decided[0].Err != nil || decided[1].Err != nil {
		t.Fatalf("%v, %v", decided[0].Err, decided[1].Err)
	}
	if e := decided[2].Err; e == nil || e.Code != agent.CodeOverloaded || !agent.Retryable(e) {
		t.Fatalf("the commit after them: %v", e)
	}
	do[*agent.ForkedAgent](r, last.Ops...)
}

// An op that changes nothing may have read much to find that out.
func TestACommitReadsSoMuchInVainAndNotMore(t *testing.T) {
	large := agent.JSON(`{"x":"` + strings.Repeat("x", 1<<20) + `"}`)
	entry := func(payload agent.JSON) []agent.Draft {
		return []agent.Draft{{ID: "e", Kind: agent.KindMessage, Payload: payload}}
	}
	for name, op := range map[string]agent.Op{
		"a patch of no job":     &agent.PatchCron{Key: "c", Specs: agent.JSON(`{"none":null}`)},
		"an entry that is kept": &agent.AppendThread{Thread: "t", Entries: entry(agent.JSON(`{}`)), SkipExisting: true},
	} {
		t.Run(name, func(t *testing.T) {
			const fit = agent.CommitRowsBytesMax>>20 - 1 // each reads a bit more than 1 MiB
			r, ops := newSubject(t), slices.Repeat([]agent.Op{op}, fit+1)
			do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "c", State: large})
			do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: entry(large)})
			r.raise(txn.ReadBytesLevel - 1)
			if _, refusal := r.try(ops...); refusal != nil {
				t.Fatalf("below its level: %v", refusal)
			}
			r.raise(txn.ReadBytesLevel)
			if _, refusal := r.try(ops[:fit]...); refusal != nil {
				t.Fatalf("%d ops: %v", fit, refusal)
			}
			if e := r.refusal(agent.CodeTooLarge, ops...); e.Limit != "commit_rows_bytes_max=67108864" || e.Op != fit {
				t.Errorf("%d ops: %+v", fit+1, e)
			}
		})
	}
}

// The bound holds within an op too: one append may name many entries that are there.
func TestAnOpReadsSoMuchInVainAndNotMore(t *testing.T) {
	r := newSubject(t)
	large := agent.JSON(`{"x":"` + strings.Repeat("x", 4<<20-100) + `"}`)
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "e", Kind: agent.KindMessage, Payload: large}}})
	r.raise(txn.ReadBytesLevel)
	again := slices.Repeat([]agent.Draft{{ID: "e", Kind: agent.KindMessage, Payload: agent.JSON(`{}`)}}, 100)
	e := r.refusal(agent.CodeTooLarge, &agent.AppendThread{Thread: "t", Entries: again, SkipExisting: true})
	var read int
	if _, err := fmt.Sscanf(e.Detail, "ops has %d,", &read); err != nil || read > agent.CommitRowsBytesMax+5<<20 {
		t.Errorf("%d bytes were read: %v, %v", read, e, err)
	}
}

// A claim of a request that waits already reads the queue before it, and changes nothing.
func TestACommitReadsSoMuchOfAQueueAndNotMore(t *testing.T) {
	r := newSubject(t)
	claim := func(id string, bytes int) *agent.ClaimSession {
		return &agent.ClaimSession{Session: "s", Owner: "w", TTL: time.Minute, Request: &agent.SessionRequest{ID: id, Input: agent.JSON(`"` + strings.Repeat("x", bytes) + `"`)}}
	}
	r.start(busy(agent.BusyEnqueue))
	for _, op := range []agent.Op{claim("runs", 1), claim("one", 1_000_000), claim("two", 1_000_000), claim("last", 1)} {
		do[*agent.SessionResult](r, op)
	}
	ops := slices.Repeat([]agent.Op{claim("last", 1)}, 40)
	r.raise(txn.ReadBytesLevel - 1)
	if _, refusal := r.try(ops...); refusal != nil {
		t.Fatalf("below its level: %v", refusal)
	}
	r.raise(txn.ReadBytesLevel)
	if _, refusal := r.try(ops[:30]...); refusal != nil {
		t.Fatalf("30 claims: %v", refusal)
	}
	if _, refusal := r.try(ops...); refusal == nil || refusal.Code != agent.CodeTooLarge {
		t.Errorf("40 claims: %v", refusal)
	}
}

// A checkpoint of a classic session looks at all of its reviews for those that it withdraws.
func TestACommitReadsSoMuchOfReviewsAndNotMore(t *testing.T) {
	r := newSubject(t)
	r.start(func(op *agent.PutSession) { op.Mode = agent.SessionModeClassic })
	asked := make([]agent.ReviewDraft, agent.SessionReviewsMax)
	for i := range asked {
		asked[i] = agent.ReviewDraft{ID: fmt.Sprint("r", i), Arguments: agent.JSON(`{"x":"` + strings.Repeat("x", 31<<10) + `"}`)}
	}
	do[*agent.SessionResult](r, &agent.CheckpointSession{Session: "s", Snapshot: snapshot("n"), Reviews: asked})
	ops := slices.Repeat([]agent.Op{&agent.CheckpointSession{Session: "s", Snapshot: snapshot("n"), Reviews: asked[:1]}}, 40)
	r.raise(txn.ReadBytesLevel)
	if _, refusal := r.try(ops[:20]...); refusal != nil {
		t.Fatalf("20 checkpoints: %v", refusal)
	}
	if _, refusal := r.try(ops...); refusal == nil || refusal.Code != agent.CodeTooLarge {
		t.Errorf("40 checkpoints: %v", refusal)
	}
}

// The incarnations that an entry can assign are counted by its ops, however many timers they set.
func TestAPatchOfManyJobsTakesAsManyIncarnationsAsAnyOp(t *testing.T) {
	r := newSubject(t)
	jobs := make([]string, agent.CronSpecsMax)
	for i := range jobs {
		jobs[i] = fmt.Sprintf(`"j%d":{"cron_expression":"@daily","message":1}`, i)
	}
	specs, key := agent.JSON("{"+strings.Join(jobs, ",")+"}"), agent.InstanceRef{Manager: "m", Key: "k"}.Checkpoint()
	result, refusal := r.try(&agent.PatchCron{Key: key, Specs: specs}, &agent.PutValue{Key: "v"})
	if refusal != nil {
		t.Fatal(refusal)
	}
	last := result.Results[1].(*agent.ValueResult).Incarnation
	if taken := last - result.Index<<16; taken > 2*fsm.MintsMax {
		t.Fatalf("two ops took %d incarnations", taken)
	}
	read[*agent.Timer](r, &agent.GetTimer{Manager: "m", Key: "k", ID: agent.CronTimerPrefix + "j127"})
}

// The queue entries of older revisions are removed with them. Otherwise a checkpoint that is
// written often leaves one for each write until the age has passed.
func TestRevisionsThatGoByNumberLeaveNothingBehind(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 3, HistoryAgeMS: 3_600_000}})
	put := func(times int) int {
		for range times {
			do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"x":1}`)})
		}
		return r.rows(queueRows)
	}
	if few, many := put(5), put(20); few != many {
		t.Fatalf("%d rows after 5 writes, %d after 25", few, many)
	}
	do[*agent.DeleteResult](r, &agent.DeleteCheckpoint{Key: "k"})
	if n := r.rows(queueRows); n != 1 { // the tombstone's
		t.Fatalf("%d rows are in the queue", n)
	}
}

func TestAForkIsToldWhichRevisionsAreKept(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{History: 10, HistoryAgeMS: 1000}})
	put := func() { do[*agent.CheckpointResult](r, &agent.PutCheckpoint{Key: "a", State: agent.JSON(`{"x":1}`)}) }
	put()
	put()
	r.after(500 * time.Millisecond)
	put()
	put()
	r.after(500 * time.Millisecond) // revision 1 has expired now, and is not swept yet
	e := r.refusal(agent.CodeNotFound, &agent.ForkAgent{Agent: "a", NewAgent: "b", Revision: 1})
	if e.Floor != 2 || e.Revision != 4 {
		t.Fatalf("refused with %+v", e)
	}
}

// A session that expires while its agent is being erased is counted in the receipt.
func TestAReceiptTellsOfSessionsThatExpireMeanwhile(t *testing.T) {
	r := newSubject(t)
	const sessions = 150
	r.whole("a")
	r.sessionsOf("a", sessions)
	for i := range sessions {
		do[*agent.SessionResult](r, &agent.SetTTL{Session: fmt.Sprintf("a-%04d", i), TTL: time.Second})
	}
	if erased := do[*agent.Erasure](r, &agent.EraseAgent{Agent: "a"}); erased.Complete() {
		t.Fatalf("erased at once: %+v", erased)
	}
	r.after(time.Second)
	for entries := 0; read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}).CompletedAt == 0; entries++ {
		if entries > sessions {
			t.Fatal("it never ends")
		}
		r.pass()
	}
	if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: "a"}); got.Sessions != sessions || got.Reviews != sessions {
		t.Fatalf("the receipt says %+v", got)
	}
}

// The erasures of many agents are worked on in turn.
func TestAnEntryGoesOnWithOneErasure(t *testing.T) {
	r := newSubject(t)
	var erase []agent.Op
	for _, name := range []string{"a", "b", "c"} {
		r.sessionsOf(name, 150)
		erase = append(erase, &agent.EraseAgent{Agent: name})
	}
	do[*agent.Erasure](r, erase...)
	for entries := 0; ; entries++ {
		before := r.leftovers()
		r.pass()
		gone := before - r.leftovers()
		if gone > 2*agent.EraseRowsMax {
			t.Fatalf("an entry removed %d rows", gone)
		}
		if gone == 0 {
			break
		}
		if entries > 450 {
			t.Fatal("it never ends")
		}
	}
	for _, name := range []string{"a", "b", "c"} {
		if got := read[*agent.Erasure](r, &agent.GetErasure{Agent: name}); !got.Complete() || got.Sessions != 150 {
			t.Fatalf("the receipt of %s says %+v", name, got)
		}
	}
}

// The results of a commit are kept for its retries, and no quota counts them: they hold no metadata,
// and are bounded.
func TestTheResultsOfACommitAreBounded(t *testing.T) {
	r := newSubject(t)
	r.record()
	large := agent.JSON(`{"x":"` + strings.Repeat("x", agent.MetadataBytesMax-8) + `"}`)
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "t", Metadata: large, Entries: drafts(`{}`)})
	appends := make([]agent.Op, 900)
	for i := range appends {
		appends[i] = appendTo("t", `{}`)
	}
	before := r.bytesOf(kv.KindAnswers)
	if d := r.batch(requested(1, 0, appends...))[0]; d.Err != nil {
		t.Fatal(d.Err)
	}
	if kept := r.bytesOf(kv.KindAnswers) - before; kept > 512*len(appends) {
		t.Fatalf("the results of %d appends have %d bytes", len(appends), kept)
	}
	for _, op := range []agent.Op{
		&agent.CompactThread{Thread: "t", BeforeSeq: 1}, &agent.SetTTL{Thread: "t"},
		&agent.HibernateThread{Thread: "h", Rev: 1, Entries: drafts(`{}`), Metadata: large},
	} {
		if got := do[*agent.ThreadResult](r, op).Thread; got.Metadata != nil {
			t.Errorf("the result of %T has %d bytes of metadata", op, len(got.Metadata))
		}
	}
	if got := do[*agent.ThreadResult](r, &agent.ForkThread{Thread: "t", NewThread: "fork"}).Thread; string(got.Metadata) != string(large) {
		t.Errorf("the result of a fork has %d bytes of metadata", len(got.Metadata))
	}
	if got := read[*agent.Thread](r, &agent.GetThread{Thread: "fork"}); string(got.Metadata) != string(large) {
		t.Errorf("the fork has %d bytes of metadata", len(got.Metadata))
	}

	// The result of a decision has the whole review: an op of few bytes may have a large result.
	const sessions, each = 5, agent.SessionReviewsMax
	arguments := agent.JSON(`{"x":"` + strings.Repeat("x", agent.ReviewBytesMax-16) + `"}`)
	var decisions []agent.Op
	for s := range sessions {
		id := fmt.Sprintf("s%d", s)
		lease := do[*agent.SessionResult](r, &agent.PutSession{Session: id, Agent: "a"}, &agent.ClaimSession{Session: id, Owner: "w", Request: asking("q")}).Session.Lease
		op := checkpointing(lease, "one")
		op.Session = id
		for i := range each {
			review := fmt.Sprintf("%s-%d", id, i)
			op.Reviews = append(op.Reviews, agent.ReviewDraft{ID: review, Arguments: arguments})
			decisions = append(decisions, deciding(review))
		}
		do[*agent.SessionResult](r, op)
	}
	few := decisions[:agent.OutcomeBytesMax/agent.ReviewBytesMax-4]
	for seq, ops := range [][]agent.Op{decisions, few} {
		d := r.batch(requested(uint64(seq+2), 0, ops...))[0]
		switch {
		case len(ops) == len(few) && d.Err != nil:
			t.Errorf("%d decisions: %v", len(ops), d.Err)
		case len(ops) > len(few) && (d.Err == nil || d.Err.Code != agent.CodeTooLarge || !d.Err.Final || !strings.HasPrefix(d.Err.Limit, "outcome_bytes_max=")):
			t.Errorf("results beyond the limit: %+v", d.Err)
		}
	}
}

// bytesOf returns the bytes of the rows of a kind.
func (r *subject) bytesOf(kind string) (bytes int) {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	err := view.EachOfKind(kind, func(_ string, raw []byte) error {
		bytes += len(raw)
		return nil
	})
	if err != nil {
		r.tb.Fatal(err)
	}
	return bytes
}
