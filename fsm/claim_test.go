package fsm_test

import (
	"bytes"
	"fmt"
	"math"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/fsm"
	"dormouse/fsm/kv"
	"dormouse/storage"
)

func take(holder string, ttl time.Duration) *agent.TakeClaim {
	return &agent.TakeClaim{Claim: "c", Holder: holder, TTL: ttl}
}

func (r *subject) take(holder string, ttl time.Duration) agent.Claim {
	r.tb.Helper()
	return do[*agent.ClaimResult](r, take(holder, ttl)).Claim
}

func renewing(c agent.Claim) *agent.RenewClaim {
	return &agent.RenewClaim{Claim: c.Name, Holder: c.Holder, Epoch: c.Epoch}
}

func (r *subject) renew(c agent.Claim) agent.Claim {
	r.tb.Helper()
	return do[*agent.ClaimResult](r, renewing(c)).Claim
}

func releasing(c agent.Claim) *agent.ReleaseClaim {
	return &agent.ReleaseClaim{Claim: c.Name, Holder: c.Holder, Epoch: c.Epoch}
}

// lead makes another leader take over.
func (r *subject) lead() *subject {
	r.term++
	return r
}

// pass applies an entry without commits, as the leader proposes when something is due.
func (r *subject) pass() { r.tb.Helper(); r.feed(nil) }

// under commits a write with a fence.
func (r *subject) under(fence *agent.Fence) *agent.Error {
	r.tb.Helper()
	return r.batch(agent.Commit{Fence: fence, Ops: []agent.Op{&agent.PutValue{Key: "v"}}})[0].Err
}

func (r *subject) fenced(fence *agent.Fence, epoch uint64, holder string) {
	r.tb.Helper()
	err := r.under(fence)
	if err == nil || err.Code != agent.CodeFenced || !err.Final || err.Op != -1 {
		r.tb.Fatalf("a write under %+v: %v; want it fenced", *fence, err)
	}
	if err.Epoch != epoch || err.Holder != holder {
		r.tb.Fatalf("fenced by epoch %d of %q, want %d of %q", err.Epoch, err.Holder, epoch, holder)
	}
}

func (r *subject) admitted(fence *agent.Fence) {
	r.tb.Helper()
	if err := r.under(fence); err != nil {
		r.tb.Fatalf("a write under %+v: %v", *fence, err)
	}
}

func (r *subject) held(holder string) agent.Claim {
	r.tb.Helper()
	c := read[*agent.Claim](r, &agent.GetClaim{Claim: "c"})
	if c.Holder != holder {
		r.tb.Fatalf("held by %q, want %q", c.Holder, holder)
	}
	return *c
}

func (r *subject) free() {
	r.tb.Helper()
	r.missing(agent.CodeNotFound, &agent.GetClaim{Claim: "c"})
}

// A claim is held until its last tick but one, and has ended at its last: the worked example of
// docs/semantics.md JL-8.
func TestAClaimLapsesAtItsTick(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", 50*time.Second)
	if a.Epoch == 0 || a.ClaimedAt != r.wall || a.ExpiresAt != r.wall+50_000 || a.TTL != 50*time.Second {
		t.Fatalf("taken: %+v at %d", a, r.wall)
	}
	r.after(10 * time.Second)
	if renewed := r.renew(a); renewed.Epoch != a.Epoch || renewed.ClaimedAt != a.ClaimedAt || renewed.ExpiresAt != r.wall+50_000 {
		t.Fatalf("renewed: %+v", renewed)
	}
	r.after(50*time.Second - time.Millisecond).pass()
	r.held("a")
	r.admitted(a.Fence())
	refused := r.refusal(agent.CodeAlreadyClaimed, take("b", time.Second))
	if refused.Holder != "a" || refused.Epoch != a.Epoch || refused.ExpiresAt != r.wall+1 {
		t.Fatalf("refused with %+v", refused)
	}

	r.after(time.Millisecond).pass()
	r.free()
	r.fenced(a.Fence(), 0, "")
	r.refuse(agent.CodeFenced, renewing(a))
	r.refuse(agent.CodeFenced, releasing(a))
	b := r.take("b", time.Minute)
	if b.Epoch <= a.Epoch {
		t.Fatalf("epoch %d follows %d", b.Epoch, a.Epoch)
	}
	r.fenced(a.Fence(), b.Epoch, "b")
	r.admitted(b.Fence())
}

// A claim whose last tick is the tick of a commit's entry has ended for that commit.
func TestALapseNeedsNoSweep(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Second)
	r.after(time.Second)
	r.fenced(a.Fence(), 0, "")

	a = r.take("a", time.Second)
	r.after(time.Second)
	if b := r.take("b", time.Second); b.Epoch <= a.Epoch {
		t.Fatalf("epoch %d follows %d", b.Epoch, a.Epoch)
	}
	r.after(500 * time.Millisecond).pass()
	r.held("b") // its row replaced a's row in the queue, which is due by now
	r.after(500 * time.Millisecond).pass()
	r.free()
	if n := r.rows(kv.KindClaim) + r.rows(kv.KindDueClaim); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
}

func TestAClaimsOwnHolderTakesItAnew(t *testing.T) {
	r := newSubject(t)
	before := r.take("a", time.Minute)
	after := r.take("a", time.Minute)
	r.fenced(before.Fence(), after.Epoch, "a")
	r.admitted(after.Fence())
	r.refuse(agent.CodeFenced, renewing(before))
	r.refuse(agent.CodeFenced, releasing(before))
}

func TestOnlyTheHolderRenewsAndReleases(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Minute)
	for name, other := range map[string]agent.Claim{
		"another holder": {Name: "c", Holder: "b", Epoch: a.Epoch},
		"another epoch":  {Name: "c", Holder: "a", Epoch: a.Epoch + 1},
		"another claim":  {Name: "d", Holder: "a", Epoch: a.Epoch},
	} {
		for _, op := range []agent.Op{renewing(other), releasing(other)} {
			err := r.refusal(agent.CodeFenced, op)
			if other.Name == "c" && (err.Epoch != a.Epoch || err.Holder != "a") {
				t.Fatalf("%s, %T: %+v", name, op, err)
			}
		}
	}
	r.held("a")
}

func TestAReleaseEndsAHoldingOrHandsItOver(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Minute)
	release := releasing(a)
	release.To = "b"
	b := do[*agent.ClaimResult](r, release).Claim
	if b.Holder != "b" || b.Epoch <= a.Epoch || b.TTL != time.Minute || b.ExpiresAt != r.wall+60_000 {
		t.Fatalf("handed over: %+v", b)
	}
	r.fenced(a.Fence(), b.Epoch, "b")
	r.admitted(b.Fence())
	r.refuse(agent.CodeFenced, releasing(a))

	free := do[*agent.ClaimResult](r, releasing(b)).Claim
	if free != (agent.Claim{Name: "c"}) || free.Held() {
		t.Fatalf("released: %+v", free)
	}
	r.free()
	r.fenced(b.Fence(), 0, "")
	if c := r.take("c", time.Minute); c.Epoch <= b.Epoch {
		t.Fatalf("epoch %d follows %d", c.Epoch, b.Epoch)
	}
}

// A renewal may shorten a claim; the later queue entry must not hide that.
func TestARenewalMayShortenAClaim(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Hour)
	shorter := renewing(a)
	shorter.TTL = time.Second
	do[*agent.ClaimResult](r, shorter)
	if tick, _ := r.machine.Due(); tick != r.tick+1000 {
		t.Fatalf("due at %d, want %d", tick, r.tick+1000)
	}
	r.after(time.Second).pass()
	if n := r.rows(kv.KindClaim) + r.rows(kv.KindDueClaim); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
}

// A change of leader restarts the full TTL of each unexpired claim, from the last entry of the term
// before. It does not revive claims that have ended.
func TestAChangeOfLeaderRearmsClaims(t *testing.T) {
	r := newSubject(t)
	r.lead().pass()
	a := r.take("a", 10*time.Second)
	gone := do[*agent.ClaimResult](r, &agent.TakeClaim{Claim: "gone", Holder: "g", TTL: 5 * time.Second}).Claim
	r.after(9 * time.Second).pass()
	r.after(9 * time.Second).lead() // without an entry in between
	r.admitted(a.Fence())
	if c := r.held("a"); c.ExpiresAt != r.wall+1000 {
		t.Fatalf("expires at %d, want %d", c.ExpiresAt, r.wall+1000)
	}
	r.fenced(gone.Fence(), 0, "")
	r.after(999 * time.Millisecond)
	r.admitted(a.Fence())
	r.lead()
	r.after(9999 * time.Millisecond)
	r.admitted(a.Fence())
	r.after(time.Millisecond)
	r.fenced(a.Fence(), 0, "")
	for range 3 {
		r.lead().pass()
		r.fenced(a.Fence(), 0, "")
		r.free()
	}
}

// When more claims end than one entry clears, each has ended for all callers at its tick. A term
// opens only once the last of them has been cleared.
func TestManyClaimsLapseAtOnce(t *testing.T) {
	r := newSubject(t)
	r.lead().pass()
	const many = 5000
	epochs := make([]uint64, many)
	for first := 0; first < many; first += agent.CommitOpsMax {
		var ops []agent.Op
		for i := first; i < min(first+agent.CommitOpsMax, many); i++ {
			ops = append(ops, &agent.TakeClaim{Claim: fmt.Sprint(i), Holder: "h", TTL: time.Minute})
		}
		result, err := r.try(ops...)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range result.Results {
			epochs[first+i] = got.(*agent.ClaimResult).Claim.Epoch
		}
	}
	kept := r.after(30*time.Second).take("k", time.Minute)
	r.after(30 * time.Second).pass()
	if got := r.rows(kv.KindClaim); got < 4900 || got > many {
		t.Fatalf("%d rows after one entry", got)
	}
	if list := read[*agent.ClaimList](r, &agent.ListClaims{}); len(list.Items) != 1 || list.Items[0].Name != "c" {
		t.Fatalf("claims held: %+v", list)
	}
	r.lead().pass() // clears 4096, and 64
	r.fenced(&agent.Fence{Claim: "4999", Epoch: epochs[4999]}, 0, "")
	r.admitted(kept.Fence())
	for tick, _ := r.machine.Due(); tick <= r.tick; tick, _ = r.machine.Due() {
		r.pass()
	}
	if got := r.rows(kv.KindClaim); got != 1 {
		t.Fatalf("%d rows at the end", got)
	}
	if scope := read[*agent.Scope](r, &agent.GetScope{}); scope.Keys != 2 { // c and v
		t.Fatalf("%d keys are counted", scope.Keys)
	}
	r.after(59 * time.Second)
	r.admitted(kept.Fence())
}

// The fence is checked before the ops: an op that takes the claim does not fence its own commit,
// and a release in a commit does not unfence it.
func TestTheFenceIsJudgedBeforeTheOps(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Minute)
	last := agent.Commit{Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}, releasing(a)}}
	if d := r.batch(last)[0]; d.Err != nil {
		t.Fatal(d.Err)
	}
	if d := r.batch(last)[0]; d.Err == nil || d.Err.Code != agent.CodeFenced || d.Err.Op != -1 {
		t.Fatalf("again: %v", d.Err)
	}
	next := agent.Commit{Fence: &agent.Fence{Claim: "c", Epoch: math.MaxUint64}, Ops: []agent.Op{take("b", time.Minute)}}
	if d := r.batch(next)[0]; d.Err == nil || d.Err.Code != agent.CodeFenced {
		t.Fatalf("fenced by what it takes: %v", d.Err)
	}
	r.free()
}

// A commit sees what earlier commits in the same entry did to the claim.
func TestAFenceSeesTheCommitsBeforeItsOwn(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Minute)
	write := agent.Commit{Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
	over := releasing(a)
	over.To = "b"
	d := r.batch(write, agent.Commit{Ops: []agent.Op{over}}, write)
	if d[0].Err != nil || d[1].Err != nil || d[2].Err == nil || d[2].Err.Code != agent.CodeFenced {
		t.Fatalf("decided %v, %v, %v", d[0].Err, d[1].Err, d[2].Err)
	}
}

// A retry gets its first answer, whatever happened to the claim since.
func TestARequestIsLookedUpBeforeItsFence(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Second)
	c := agent.Commit{
		Request: agent.Request{Client: "x", Seq: 1}, Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}},
	}
	encoded := r.encode(c)
	first := r.feed(encoded)[0]
	r.after(time.Minute)
	if again := r.feed(encoded)[0]; again.Err != nil || again.Result.Index != first.Result.Index {
		t.Fatalf("a retry: %+v, %v", again.Result, again.Err)
	}

	taken := agent.Commit{Request: agent.Request{Client: "x", Seq: 2}, Ops: []agent.Op{take("a", time.Second)}}
	encoded = r.encode(taken)
	was := r.feed(encoded)[0].Result.Results[0].(*agent.ClaimResult).Claim
	r.after(time.Minute)
	is := r.feed(encoded)[0].Result.Results[0].(*agent.ClaimResult).Claim
	if was != is {
		t.Fatalf("a retry took %+v, first %+v", is, was)
	}
	r.free()
}

func TestARefusedCommitTakesNoClaim(t *testing.T) {
	r := newSubject(t)
	r.refuse(agent.CodeRevisionMismatch, take("a", time.Minute), &agent.PutValue{Key: "v", IfRevision: ptr(uint64(7))})
	r.free()
	r.pass()
	if n := r.rows(kv.KindClaim) + r.rows(kv.KindDueClaim); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
}

func TestClaimsBelongToTheirScope(t *testing.T) {
	r := newSubject(t)
	a := r.take("a", time.Minute)
	other := agent.Commit{Scope: "other", Fence: a.Fence(), Ops: []agent.Op{&agent.PutValue{Key: "v"}}}
	if d := r.batch(other)[0]; d.Err == nil || d.Err.Code != agent.CodeFenced {
		t.Fatalf("a fence of another scope: %v", d.Err)
	}
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	r.fenced(a.Fence(), 0, "")
	b := r.take("b", 2*time.Minute)
	r.after(time.Minute).pass() // a's queue entry is due
	r.admitted(b.Fence())
	r.after(time.Minute).pass()
	if n := r.rows(kv.KindClaim) + r.rows(kv.KindDueClaim); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
}

func TestClaimsCountAgainstTheQuota(t *testing.T) {
	r := newSubject(t)
	do[*agent.ScopeResult](r, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}})
	r.take("a", time.Second)
	_, err := r.try(&agent.TakeClaim{Claim: "d", Holder: "a", TTL: time.Second})
	if err == nil || err.Code != agent.CodeOverloaded {
		t.Fatalf("one claim too many: %v", err)
	}
	r.take("a", time.Second) // again
	r.after(time.Second)
	do[*agent.ClaimResult](r, &agent.TakeClaim{Claim: "d", Holder: "a", TTL: time.Second})
}

func TestWatchersOfAClaimAreWoken(t *testing.T) {
	r := newSubject(t)
	signal, cancel := r.machine.WatchClaim("default", "c")
	defer cancel()
	woken := func(what string, want bool) {
		t.Helper()
		select {
		case <-signal:
			if !want {
				t.Fatalf("woken by %s", what)
			}
		default:
			if want {
				t.Fatalf("not woken by %s", what)
			}
		}
	}
	a := r.take("a", time.Second)
	woken("taking it", true)
	do[*agent.ThreadResult](r, &agent.AppendThread{Thread: "c"})
	do[*agent.ClaimResult](r, &agent.TakeClaim{Claim: "d", Holder: "a", TTL: time.Hour})
	woken("another row", false)
	r.renew(a)
	woken("renewing it", true)
	r.after(time.Second).pass()
	woken("its lapse", true)
	a = r.take("a", time.Second)
	woken("taking it", true)
	do[*agent.ClaimResult](r, releasing(a))
	woken("releasing it", true)
	r.take("a", time.Second)
	woken("taking it", true)
	do[*agent.DeleteResult](r, &agent.DeleteScope{})
	woken("deleting its scope", true)
}

// Claims survive a restart with their time left, and so does the start of the term.
func TestClaimsSurviveARestart(t *testing.T) {
	fs := storage.MemFS()
	r := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	a := r.take("a", 10*time.Second)
	r.after(9 * time.Second).pass()
	r.lead().pass()
	hash := r.hash()
	log := r.log
	r.close()

	again := openSubject(t, fsm.Options{Dir: "state", FS: fs})
	for _, entry := range log {
		if applied, _ := again.machine.Chain(); entry.Index > applied {
			again.replay(entry)
		}
	}
	if again.hash() != hash {
		t.Fatal("the state after a restart is another")
	}
	again.index, again.term, again.tick, again.wall = r.index, r.term, r.tick, r.wall
	again.after(9 * time.Second)
	again.admitted(a.Fence())
	again.after(time.Second)
	again.fenced(a.Fence(), 0, "")
}

// A backup lacks takeovers that happened after it, so a state restored from it has no claims: a
// holder that lost its claim cannot write again.
func TestARestoredBackupHoldsNoClaims(t *testing.T) {
	r := openSubject(t, fsm.Options{Dir: "state", FS: storage.MemFS(), ClusterID: func() string { return "one" }})
	r.lead()
	a := r.take("a", time.Hour)
	r.admitted(a.Fence()) // and so creates value v
	var backup bytes.Buffer
	if err := r.machine.WriteBackup(&backup); err != nil {
		t.Fatal(err)
	}
	fs := storage.MemFS()
	if _, err := fsm.RestoreBackup(&backup, fsm.RestoreOptions{
		Dir: "state", FS: fs, ClusterID: "two", Voter: voters("n1").Servers[0],
	}); err != nil {
		t.Fatal(err)
	}
	again := openSubject(t, fsm.Options{Dir: "state", FS: fs, ClusterID: func() string { return "two" }})
	again.index, again.tick, again.wall, again.term = again.machine.Applied(), r.tick, r.wall, 2
	again.free()
	again.fenced(a.Fence(), 0, "")
	if keys := read[*agent.Scope](again, &agent.GetScope{}).Keys; keys != 1 {
		t.Fatalf("%d keys are counted", keys)
	}
	if n := again.rows(kv.KindClaim) + again.rows(kv.KindDueClaim); n > 0 {
		t.Fatalf("%d rows are left behind", n)
	}
	if b := again.take("b", time.Minute); b.Epoch <= a.Epoch {
		t.Fatalf("epoch %d follows %d", b.Epoch, a.Epoch)
	}
}
