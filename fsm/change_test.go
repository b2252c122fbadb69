package fsm_test

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	"dormouse/storage"
)

// recording returns a subject whose cluster records changes.
func recording(tb testing.TB) *subject {
	tb.Helper()
	r := newSubject(tb)
	r.record()
	return r
}

func (r *subject) record() { r.raise(fsm.FeatureLevelMax) }

// raise raises the cluster's feature level.
func (r *subject) raise(level uint32) {
	r.tb.Helper()
	if d := r.feed([][]byte{r.machine.EncodeFeatureLevel(level)}); d[0].Err != nil {
		r.tb.Fatal(d[0].Err)
	}
}

// page reads a page of a scope's feed.
func (r *subject) page(scope string, from, skip uint64, prefix string, limit int) fsm.ChangesPage {
	r.tb.Helper()
	view := r.machine.View()
	defer view.Close()
	page, err := view.ChangesPage(scope, from, skip, prefix, limit)
	if err != nil {
		r.tb.Fatal(err)
	}
	return page
}

// told returns the changes of entry index in the default scope, one per line.
func (r *subject) told(index uint64) string {
	r.tb.Helper()
	var lines []string
	for _, c := range r.page(agent.DefaultScope, index, 0, "", 1000).Changes {
		if c.Index != index {
			break
		}
		if c.Time != r.wall || c.Ordinal != uint64(len(lines)) {
			r.tb.Errorf("change %d of entry %d, at %d: %+v", len(lines), index, r.wall, c)
		}
		lines = append(lines, sayChange(c))
	}
	return strings.Join(lines, "\n")
}

func sayChange(c agent.Changed) string {
	line := c.Path()
	if c.Deleted {
		return line + " gone"
	}
	if c.Revision != 0 && c.Revision < 1<<16 {
		line += fmt.Sprintf(" at %d", c.Revision)
	}
	if c.Status != "" {
		line += " " + c.Status
	}
	return line
}

func TestEveryWriteIsTold(t *testing.T) {
	r := recording(t)
	session := func(ops ...agent.Op) []agent.Op { return ops }
	of := func(id string) agent.ConversationRef { return agent.ConversationRef{ID: id} }
	timer := func(id string, in time.Duration) agent.Op {
		return &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: id, Next: r.wall + in.Milliseconds()}}
	}
	for _, c := range []struct {
		name string
		ops  []agent.Op
		pass time.Duration // before it
		want string
	}{
		{"a value", []agent.Op{&agent.PutValue{Key: "v"}, &agent.PutValue{Key: "v"}}, 0, "values/v at 1\nvalues/v at 2"},
		{"a value goes", []agent.Op{&agent.DeleteValue{Key: "v"}}, 0, "values/v gone"},
		{"nothing goes", []agent.Op{&agent.DeleteValue{Key: "v"}}, 0, ""},
		{"a thread", []agent.Op{appendTo("t", `{}`, `{}`)}, 0, "threads/t at 2"},
		{"a thread forks", []agent.Op{&agent.ForkThread{Thread: "t", NewThread: "f"}}, 0, "threads/f at 2"},
		{"a thread is compacted", []agent.Op{&agent.CompactThread{Thread: "t", BeforeSeq: 1}}, 0, "threads/t at 2"},
		{"a checkpoint", []agent.Op{pointing("c", "t", 2)}, 0, "checkpoints/c at 1"},
		{"a checkpoint is patched", []agent.Op{&agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"a":1}`)}}, 0, "checkpoints/c at 2"},
		{"a checkpoint and a thread go", []agent.Op{&agent.DeleteCheckpoint{Key: "c"}, &agent.DeleteThread{Thread: "t"}}, 0, "checkpoints/c gone\nthreads/t gone"},
		{"a memory", []agent.Op{&agent.WriteMemory{Agent: "a", ID: "m", Content: "x", TTL: time.Minute}}, 0, "memory/a/m at 1"},
		{"a memory expires", nil, time.Minute, "memory/a/m gone"},
		{"a value expires", []agent.Op{&agent.PutValue{Key: "v", TTL: time.Second}}, 0, "values/v at 1"},
		{"…as it is written", []agent.Op{&agent.PutValue{Key: "v"}}, time.Second, "values/v gone\nvalues/v at 1"},
		{"a claim", []agent.Op{&agent.TakeClaim{Claim: "cl", Holder: "h", TTL: time.Second}}, 0, "claims/cl"},
		{"a claim lapses", nil, time.Second, "claims/cl gone"},
		{
			"a conversation",
			[]agent.Op{&agent.SaveConversation{ConversationRef: of("d"), Lifecycle: agent.LifecycleCompletion, State: agent.JSON(`{"version":1,"state":{}}`)}},
			0, "conversations/d at 1",
		},
		{"what is said to it", []agent.Op{&agent.PendMessage{ConversationRef: of("d"), Message: agent.JSON(`{}`)}}, 0, "conversations/d at 1"},
		{"that it waits", []agent.Op{&agent.SetInterrupted{ConversationRef: of("d"), Interrupted: true}}, 0, "conversations/d at 1"},
		{
			"messages", []agent.Op{&agent.SaveMessages{ConversationRef: of("d"), Messages: []agent.MessageDraft{
				{ID: "x", Role: agent.RoleUser, Type: "text"}, {ID: "y", Role: agent.RoleTool, Type: "call"},
			}}}, 0, "messages/d/x at 1\nmessages/d/y at 1\nconversations/d at 1",
		},
		{
			"a message's status",
			[]agent.Op{&agent.UpdateMessage{ConversationRef: of("d"), Message: "y", Status: agent.ToolCompleted}},
			0,
			"messages/d/y at 2\nconversations/d at 1",
		},
		{"no message's status", []agent.Op{&agent.UpdateMessage{ConversationRef: of("d"), Message: "z", Status: agent.ToolCompleted}}, 0, ""},
		{"a conversation goes", []agent.Op{&agent.DeleteConversation{ConversationRef: of("d")}}, 0, "conversations/d gone"},
		{"a manager", []agent.Op{&agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}}, 0, "managers/m at 1"},
		{"a manager goes", []agent.Op{&agent.DeleteManager{Name: "m"}}, 0, "managers/m gone"},
		{"a timer", []agent.Op{timer("t", time.Second)}, 0, "timers/m/k/t"},
		{"a timer falls due", nil, time.Second, ""}, // which does not change anything that clients see
		{"a timer goes", []agent.Op{&agent.DeleteTimer{Manager: "m", Key: "k", ID: "t"}}, 0, "timers/m/k/t gone"},
		{"a policy", []agent.Op{&agent.PutScope{}}, 0, "scopes/default"},
		{"a session", session(&agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "st"}}), 0, "sessions/s at 1 new"},
		{
			"a turn", session(&agent.ClaimSession{Session: "s", Owner: "o", TTL: time.Second, Request: &agent.SessionRequest{ID: "r"}}), 0,
			"claims/session:s\nsessions/s at 2 running",
		},
		{"a lease lapses", nil, time.Second, "claims/session:s gone\nsessions/s at 2 running"},
		{
			"a turn is recovered", session(&agent.RecoverSession{Session: "s", Owner: "o", TTL: time.Hour}), 0,
			"claims/session:s\nsessions/s at 3 running",
		},
	} {
		r.after(c.pass)
		if c.ops == nil {
			r.batch()
		} else if _, err := r.try(c.ops...); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		if diff := cmp.Diff(c.want, r.told(r.index)); diff != "" {
			t.Errorf("%s (-want +told):\n%s", c.name, diff)
		}
	}
}

func TestReviewsAreTold(t *testing.T) {
	r := recording(t)
	do[*agent.SessionResult](r, &agent.PutSession{Session: "s", Agent: "a", SessionSettings: agent.SessionSettings{Thread: "t"}})
	lease := do[*agent.SessionResult](r, &agent.ClaimSession{
		Session: "s", Owner: "o", TTL: time.Hour, Request: &agent.SessionRequest{ID: "r"},
	}).Session.Lease
	do[*agent.SessionResult](r, &agent.CommitSession{
		Session: "s", LeaseID: lease.LeaseID, Owner: "o", Status: agent.SessionWaiting,
		Snapshots: []agent.SessionSnapshot{{ID: "n", Cursor: agent.Cursor{Phase: agent.PhaseReview}}},
		Reviews:   []agent.ReviewDraft{{ID: "now"}, {ID: "late", TTL: time.Minute, EscalateAfter: time.Second, EscalateTo: "boss"}},
	})
	said := func(want string) {
		t.Helper()
		if diff := cmp.Diff(want, r.told(r.index)); diff != "" {
			t.Errorf("(-want +told):\n%s", diff)
		}
	}
	said("reviews/now pending\nreviews/late pending\nclaims/session:s gone\nsessions/s at 3 waiting")
	r.after(time.Second).batch()
	said("reviews/late pending") // escalated
	do[*agent.ReviewResult](r, &agent.DecideReview{Review: "now", Decision: agent.DecideApprove, By: "anna"})
	said("reviews/now approved\nsessions/s at 4 waiting\nthreads/t at 1")
	r.after(time.Minute).batch()
	said("reviews/late expired\nsessions/s at 5 hibernated\nthreads/t at 2")
	do[*agent.DeleteResult](r, &agent.DeleteSession{Session: "s"})
	said("sessions/s gone") // and its reviews with it
}

func TestWhatIsRefusedIsNotTold(t *testing.T) {
	r := recording(t)
	put := func(key string) agent.Commit { return agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: key}}} }
	refused := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "no"}, pointing("c", "none", 1)}}
	other := put("v")
	other.Scope = "other"
	r.batch(put("a"), refused, other, put("b"))
	if got := r.told(r.index); got != "values/a at 1\nvalues/b at 1" {
		t.Errorf("told %q", got)
	}
	if page := r.page("other", r.index, 0, "", 10); len(page.Changes) != 1 || page.Changes[0].Key != "v" {
		t.Errorf("the other scope's: %+v", page)
	}
}

func TestAFeedIsReadInPages(t *testing.T) {
	r := recording(t)
	for n := range 3 {
		r.batch(agent.Commit{Ops: []agent.Op{
			&agent.PutValue{Key: fmt.Sprint("a", n)}, appendTo("t", `{}`), &agent.PutValue{Key: fmt.Sprint("b", n)},
		}})
	}
	first := r.index - 2
	whole := r.page(agent.DefaultScope, first, 0, "", 100).Changes
	if len(whole) != 9 {
		t.Fatalf("%d changes", len(whole))
	}
	for limit := 1; limit < 10; limit++ {
		var got []agent.Changed
		next, skip := first, uint64(0)
		for next <= r.index {
			page := r.page(agent.DefaultScope, next, skip, "", limit)
			got = append(got, page.Changes...)
			next, skip = page.Next, page.Skip
		}
		if diff := cmp.Diff(whole, got); diff != "" || skip != 0 {
			t.Errorf("in pages of %d (-whole +pages):\n%s", limit, diff)
		}
	}
	for prefix, want := range map[string]int{"values/": 6, "values/a": 3, "values/a1": 1, "threads": 3, "t": 3, "values/x": 0, "": 9} {
		page := r.page(agent.DefaultScope, first, 0, prefix, 100)
		if len(page.Changes) != want || page.Next != r.index+1 {
			t.Errorf("%q: %d changes, want %d; next %d", prefix, len(page.Changes), want, page.Next)
		}
		for _, c := range page.Changes {
			if !slices.Contains(whole, c) {
				t.Errorf("%q gives %+v another place", prefix, c)
			}
		}
	}
}

func TestAFeedForgetsItsOldestChanges(t *testing.T) {
	r := recording(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{ChangesMax: 100}})
	ops := make([]agent.Op, 50)
	for i := range ops {
		ops[i] = &agent.PutValue{Key: fmt.Sprint(i)}
	}
	kept := func(from uint64) int {
		n := 0
		for next := from; next <= r.index; {
			page := r.page(agent.DefaultScope, next, 0, "", 10_000)
			n, next = n+len(page.Changes), page.Next
		}
		return n
	}
	floor := uint64(0)
	for range 100 {
		if _, err := r.try(ops...); err != nil {
			t.Fatal(err)
		}
		page := r.page(agent.DefaultScope, r.index, 0, "", 1)
		if page.Floor < floor {
			t.Fatalf("the floor went from %d to %d", floor, page.Floor)
		}
		floor = page.Floor
		if n := kept(floor); n > 100+agent.ChangesSlack+50 || floor > 2 && n < 100 {
			t.Fatalf("%d changes are kept, from %d on", n, floor)
		}
		if below := r.page(agent.DefaultScope, floor-1, 0, "", 10); len(below.Changes) > 0 {
			t.Fatalf("below the floor there is %+v", below)
		}
	}
	if floor < 50 {
		t.Errorf("after %d entries the floor is %d", r.index, floor)
	}
	if rows := r.rows(kv.KindChange); rows > (100+agent.ChangesSlack)/50+2 {
		t.Errorf("%d rows are left", rows)
	}
	// A lowered policy takes effect over many entries, a little in each.
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{ChangesMax: 10_000}})
	for range 3*agent.ChangesTrimMax + agent.ChangesSlack {
		do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	}
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{ChangesMax: 1}})
	before := r.rows(kv.KindChange)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	if after := r.rows(kv.KindChange); before-after > agent.ChangesTrimMax || before-after < agent.ChangesTrimMax-1 {
		t.Errorf("one entry took %d rows away", before-after)
	}
}

// Entries with many changes remove as many of the entries before them that have one change each.
func TestAFeedOfSmallEntriesThenLargeOnesKeepsItsBound(t *testing.T) {
	for level, most := range map[uint32]int{txn.TrimLevel: 100 + agent.ChangesSlack + 200, txn.TrimLevel - 1: 1 << 20} {
		r := newSubject(t)
		r.raise(level)
		do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{ChangesMax: 100}})
		for range agent.ChangesSlack {
			do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
		}
		ops := make([]agent.Op, 200)
		for i := range ops {
			ops[i] = &agent.PutValue{Key: fmt.Sprint(i)}
		}
		n := 0
		for range 12 {
			if _, err := r.try(ops...); err != nil {
				t.Fatal(err)
			}
			page := r.page(agent.DefaultScope, r.index, 0, "", 1)
			n = 0
			for next := page.Floor; next <= r.index; {
				page := r.page(agent.DefaultScope, next, 0, "", 10_000)
				n, next = n+len(page.Changes), page.Next
			}
			if n > most {
				t.Errorf("level %d: %d changes are kept", level, n)
			}
		}
		if level < txn.TrimLevel && n < 2*(100+agent.ChangesSlack) {
			t.Errorf("level %d: %d changes are kept: the test shows nothing", level, n)
		}
	}
}

func TestDeletingAScopeEndsItsFeed(t *testing.T) {
	r := recording(t)
	put := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
	gone := agent.Commit{Ops: []agent.Op{&agent.DeleteScope{}}}
	r.batch(gone) // deletes of missing things
	if page := r.page(agent.DefaultScope, r.index, 0, "", 10); page.Gone != 0 || page.Floor > r.index {
		t.Fatalf("a scope that never was: %+v", page)
	}
	r.batch(put)
	r.batch(put, gone, put)
	page := r.page(agent.DefaultScope, r.index+1, 0, "", 10)
	if page.Gone != r.index || page.Floor != r.index+1 || r.rows(kv.KindChange) != 0 {
		t.Fatalf("deleted at %d: %+v, and %d rows", r.index, page, r.rows(kv.KindChange))
	}
	deleted := r.index
	r.batch(put)
	if page := r.page(agent.DefaultScope, r.index, 0, "", 10); page.Gone != deleted || page.Floor != deleted+1 || len(page.Changes) != 1 {
		t.Fatalf("made anew: %+v", page)
	}
	r.batch(gone)
	deleted = r.index
	// Details of the deletion are forgotten after a while, but the floor stays.
	r.after(agent.TombstoneTTL).batch()
	if page := r.page(agent.DefaultScope, r.index, 0, "", 10); page.Gone != 0 || page.Floor != deleted+1 || r.rows(kv.KindFeed) != 0 {
		t.Fatalf("long after %d: %+v", deleted, page)
	}
	if page := r.page("never", r.index, 0, "", 10); page.Floor != deleted+1 {
		t.Fatalf("another scope: %+v", page)
	}
}

// A state that was written before changes were recorded is complete, and its feed begins at the
// entry where all nodes could record changes.
func TestOldEntriesAreNotTold(t *testing.T) {
	r := newSubject(t)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	view := r.machine.View()
	_, err := view.ChangesPage(agent.DefaultScope, 1, 0, "", 10)
	view.Close()
	if agent.CodeOf(err) != agent.CodeUnavailable {
		t.Fatalf("before anything is recorded: %v", err)
	}
	if rows := r.rows(kv.KindChange) + r.rows(kv.KindFeed); rows != 0 {
		t.Fatalf("%d rows of feeds", rows)
	}
	r.record()
	raised := r.index
	if page := r.page(agent.DefaultScope, raised+1, 0, "", 10); page.Floor != raised+1 {
		t.Fatalf("%+v", page)
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	if page := r.page(agent.DefaultScope, raised+1, 0, "", 10); page.Floor != raised+1 || len(page.Changes) != 1 || page.Changes[0].Revision != 2 {
		t.Fatalf("%+v", page)
	}
	again := openSubject(t, fsm.Options{Dir: "again", FS: storage.MemFS()})
	for _, entry := range r.log {
		again.replay(entry)
	}
	if again.hash() != r.hash() {
		t.Error("replayed, the log gives another state")
	}
}

// A kind of change that was added later is recorded from its feature level on.
func TestALaterKindIsToldFromItsLevelOn(t *testing.T) {
	r := newSubject(t)
	r.raise(txn.ChangesLevel)
	put := &agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}
	for _, op := range []agent.Op{
		put, &agent.DeleteManager{Name: "m"},
		&agent.SaveMessages{ConversationRef: agent.ConversationRef{ID: "c"}, Messages: []agent.MessageDraft{{ID: "x", Role: agent.RoleUser, Type: "text"}}},
		&agent.DeleteConversation{ConversationRef: agent.ConversationRef{ID: "c"}},
		&agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: "t", Next: r.wall + 1}},
	} {
		if _, err := r.try(op); err != nil {
			t.Fatal(err)
		}
		if told := r.told(r.index); told != "" {
			t.Errorf("%T at level %d: told %q", op, txn.ChangesLevel, told)
		}
	}
	r.raise(txn.ConversationsLevel)
	do[*agent.ManagerResult](r, put)
	if told := r.told(r.index); told != "managers/m at 1" {
		t.Errorf("at level %d: told %q", txn.ConversationsLevel, told)
	}
}

// A change names the principal of its commit from the feature level of tokens on. Expiries have none.
func TestAChangeNamesItsPrincipalFromTheLevelOfTokensOn(t *testing.T) {
	r := newSubject(t)
	by := func() string {
		changes := r.page(agent.DefaultScope, r.index, 0, "", 10).Changes
		if len(changes) != 1 {
			t.Fatalf("%+v", changes)
		}
		return changes[0].Principal
	}
	put := agent.Commit{Principal: "anna", Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v"), TTL: time.Second}}}
	r.raise(txn.TokensLevel - 1)
	if d := r.batch(put); d[0].Err != nil || by() != "" {
		t.Errorf("%v, by %q", d[0].Err, by())
	}
	r.raise(txn.TokensLevel)
	if d := r.batch(put); d[0].Err != nil || by() != "anna" {
		t.Errorf("%v, by %q", d[0].Err, by())
	}
	r.wall += time.Minute.Milliseconds()
	r.batch()
	if c := r.page(agent.DefaultScope, r.index, 0, "", 10).Changes; len(c) != 1 || !c[0].Deleted || c[0].Principal != "" {
		t.Errorf("an expiry: %+v", c)
	}
}

// Acknowledging and failing an occurrence are changes of its timer.
func TestOccurrencesOfTimersAreTold(t *testing.T) {
	r := recording(t)
	begin := r.index + 1
	put := do[*agent.TimerResult](r, &agent.PutTimer{Timer: agent.Timer{Manager: "m", Key: "k", ID: "t", Next: r.wall + 1}}).Timer
	of := func(op agent.Op) { do[*agent.TimerResult](r, op) }
	of(&agent.AckTimer{Manager: "m", Key: "k", ID: "t", Generation: put.Generation, Instant: put.Next, Next: put.Next + 1})
	for range agent.TimerAttemptsMax {
		of(&agent.FailTimer{Manager: "m", Key: "k", ID: "t", Generation: put.Generation, Instant: put.Next + 1, NotBefore: r.wall + 1, Error: "no"})
	}
	of(&agent.AckTimer{Manager: "m", Key: "k", ID: "t", Generation: put.Generation, Instant: put.Next + 1})
	changes := r.page(agent.DefaultScope, begin, 0, "timers/m/k/", 100).Changes
	if len(changes) != agent.TimerAttemptsMax+3 {
		t.Fatalf("%+v", changes)
	}
	for i, c := range changes {
		last, parked := i == len(changes)-1, i == len(changes)-2
		if c.Deleted != last || (c.Status == agent.TimerParked) != parked || !last && c.Revision != put.Generation {
			t.Errorf("change %d: %+v", i, c)
		}
	}
}

func TestAWatcherOfChangesIsSignalled(t *testing.T) {
	r := recording(t)
	changed, cancel := r.machine.WatchChanges(agent.DefaultScope)
	defer cancel()
	quiet, cancelQuiet := r.machine.WatchChanges("quiet")
	defer cancelQuiet()
	signalled := func() bool {
		select {
		case <-changed:
			return true
		default:
			return false
		}
	}
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v", TTL: time.Second})
	if !signalled() {
		t.Error("no signal of a write")
	}
	r.after(time.Second).batch()
	if !signalled() {
		t.Error("no signal of an expiry")
	}
	r.batch()
	if signalled() {
		t.Error("a signal of nothing")
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	if !signalled() {
		t.Error("no signal of a deleted scope")
	}
	select {
	case <-quiet:
		t.Error("another scope's watcher was signalled")
	default:
	}
}

// The log of a cluster that is restored from a backup differs from the old cluster's log after the
// backup.
func TestARestoredBackupBeginsItsFeedsAnew(t *testing.T) {
	r := recording(t)
	do[*agent.ValueResult](r, &agent.PutValue{Key: "v"})
	var backup bytes.Buffer
	if err := r.machine.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	fs := storage.MemFS()
	o := fsm.RestoreOptions{Dir: "m", FS: fs, ClusterID: "cluster-two", Voter: voters("n9").Servers[0]}
	if _, err := fsm.RestoreBackup(&backup, o); err != nil {
		t.Fatal(err)
	}
	p, err := tryOpen(fs, "m", "cluster-two")
	if err != nil {
		t.Fatal(err)
	}
	defer p.close(t)
	view := p.View()
	defer view.Close()
	page, err := view.ChangesPage(agent.DefaultScope, r.index, 0, "", 10)
	if err != nil || page.Floor != p.Applied()+1 || len(page.Changes) > 0 {
		t.Errorf("restored at %d: %+v, %v", p.Applied(), page, err)
	}
}
