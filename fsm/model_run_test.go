package fsm_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/storage"
)

// commit applies a commit to the model, given the machine's decision. It returns the expected
// results, or the code and the op of a refusal.
func (m *model) commit(c agent.Commit, got agent.Decided) (results []agent.OpResult, op int, code agent.Code) {
	if m.fenced(c.Fence) {
		return nil, -1, agent.CodeFenced
	}
	before := m.clone()
	for i, o := range c.Ops {
		var had agent.OpResult
		if got.Err == nil {
			had = got.Result.Results[i]
		}
		result, code := m.op(o, had)
		if code != "" {
			*m = *before
			return nil, i, code
		}
		results = append(results, result)
	}
	return results, 0, ""
}

func (m *model) op(op agent.Op, got agent.OpResult) (agent.OpResult, agent.Code) {
	switch op := op.(type) {
	case *agent.PutValue:
		return m.putValue(op, got)
	case *agent.DeleteValue:
		return m.deleteValue(op)
	case *agent.PutCheckpoint:
		return m.putCheckpoint(op, got)
	case *agent.PatchCheckpoint:
		return m.patchCheckpoint(op, got)
	case *agent.DeleteCheckpoint:
		return m.deleteCheckpoint(op)
	case *agent.AppendThread:
		return m.appendThread(op, got)
	case *agent.HibernateThread:
		return m.hibernateThread(op, got)
	case *agent.DeleteThread:
		return m.deleteThread(op)
	case *agent.ForkThread:
		return m.forkThread(op, got)
	case *agent.CompactThread:
		return m.compactThread(op)
	case *agent.WriteMemory:
		return m.writeMemory(op, got)
	case *agent.DeleteMemory:
		return m.deleteMemory(op)
	case *agent.TakeClaim:
		return m.takeClaim(op, got)
	case *agent.RenewClaim:
		return m.renewClaim(op)
	case *agent.ReleaseClaim:
		return m.releaseClaim(op, got)
	case *agent.DeletePrefix:
		return m.deletePrefix(op, got)
	default:
		return m.managerOp(op, got)
	}
}

// generator draws commits that are often valid: it looks at the model.
type generator struct {
	model  *model
	n      int // increases, so that payloads differ
	seq    uint64
	sent   []agent.Commit // with request ids
	epochs []uint64       // that were used before
}

var (
	keys           = rapid.SampledFrom([]string{"a", "b", "c"})
	kindsOfEntries = []string{"", "message", "mes", "note"}
	chosenIDs      = rapid.SampledFrom([]string{"", "", "", "x", "y", "z"})
	ttls           = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, time.Minute})
	seals          = rapid.SampledFrom([]time.Duration{0, 0, 0, time.Second, time.Minute})
)

// entry lets time pass for the subject and the model, perhaps under another leader, and draws the
// commits of the next entry.
func (g *generator) entry(rt *rapid.T, r *subject) (commits []agent.Commit) {
	r.after(rapid.SampledFrom([]time.Duration{0, time.Millisecond, time.Second, time.Minute}).Draw(rt, "pass"))
	another := rapid.IntRange(0, 4).Draw(rt, "another leads") == 0
	if another {
		r.lead()
	}
	if g.model.reviewIsDue(r.wall) {
		// A step of a deletion takes the sweep of a whole entry. The model's reviews expire at once.
		for sweepIsBehind(r) {
			r.pass()
		}
	}
	g.model.expire(r.wall)
	g.model.pass(r.tick, another)
	for range rapid.IntRange(0, 3).Draw(rt, "commits") {
		commits = append(commits, g.commit(rt))
	}
	return commits
}

// near draws a number about n, or nil.
func near(t *rapid.T, n uint64) *uint64 {
	switch rapid.IntRange(0, 5).Draw(t, "near") {
	case 0:
		return ptr(n)
	case 1:
		return ptr(rapid.Uint64Range(0, n+1).Draw(t, "n"))
	default:
		return nil
	}
}

// incarnation draws 0, the current one or an older one.
func incarnation(t *rapid.T, current uint64) uint64 {
	switch rapid.IntRange(0, 9).Draw(t, "incarnation") {
	case 0:
		return current
	case 1:
		return max(current, 1<<16) - 1
	default:
		return 0
	}
}

func (g *generator) drafts(t *rapid.T, most int) []agent.Draft {
	var out []agent.Draft
	for range rapid.IntRange(0, most).Draw(t, "drafts") {
		g.n++
		d := agent.Draft{
			Payload: agent.JSON(fmt.Sprintf(`{"n":%d}`, g.n)), ID: chosenIDs.Draw(t, "id"),
			Kind: rapid.SampledFrom(kindsOfEntries).Draw(t, "kind"),
		}
		if d.ID != "" && rapid.Bool().Draw(t, "same") {
			d.Payload, d.Kind = agent.JSON(fmt.Sprintf(`{"id":%q}`, d.ID)), "" // equal content with equal ids
		}
		if rapid.IntRange(0, 3).Draw(t, "bytes") == 0 {
			d.Bytes, d.ContentType = fmt.Append(nil, g.n%2), rapid.SampledFrom([]string{"", "image/png"}).Draw(t, "type")
		}
		out = append(out, d)
	}
	return out
}

func (g *generator) pointer(t *rapid.T) *agent.Pointer {
	if rapid.Bool().Draw(t, "pointer") {
		return nil
	}
	id := keys.Draw(t, "thread")
	thread := g.model.threads[id]
	p := &agent.Pointer{Thread: id, Rev: thread.Rev, Incarnation: incarnation(t, thread.Incarnation)}
	if rev := near(t, thread.Rev); rev != nil {
		p.Rev = *rev
	}
	return p
}

func (g *generator) op(t *rapid.T) agent.Op {
	key := keys.Draw(t, "key")
	thread, checkpoint, value := g.model.threads[key], g.model.current(key), g.model.values[key]
	g.n++
	text := fmt.Sprintf(`{"n":%d}`, g.n)
	switch rapid.IntRange(0, 30).Draw(t, "op") {
	case 0:
		op := &agent.PutValue{
			Key: key, Bytes: []byte(text), TTL: ttls.Draw(t, "ttl"), IfRevision: near(t, value.Revision),
			IfIncarnation: incarnation(t, value.Incarnation),
		}
		if rapid.IntRange(0, 3).Draw(t, "if bytes") == 0 {
			op.IfBytes = &value.Bytes
		}
		if op.IfBytes == nil && op.IfRevision == nil && op.IfIncarnation == 0 {
			op.SkipExisting = rapid.Bool().Draw(t, "skip")
		}
		return op
	case 1:
		return &agent.DeleteValue{Key: key, IfRevision: near(t, value.Revision), Seal: seals.Draw(t, "seal")}
	case 2, 3:
		op := &agent.PutCheckpoint{
			Key: key, State: agent.JSON(text), Metadata: agent.JSON(`{}`), Thread: g.pointer(t), TTL: ttls.Draw(t, "ttl"),
			IfRevision: near(t, checkpoint.Revision), IfIncarnation: incarnation(t, checkpoint.Incarnation),
		}
		if op.IfRevision == nil && op.IfIncarnation == 0 {
			op.SkipExisting = rapid.IntRange(0, 3).Draw(t, "skip") == 0
		}
		return op
	case 4:
		return &agent.PatchCheckpoint{
			Key: key, Patch: agent.JSON(fmt.Sprintf(`{"p%d":{"q%d":%d}}`, g.n%3, g.n%2, g.n)), IfRevision: near(t, checkpoint.Revision),
			Upsert: rapid.Bool().Draw(t, "upsert"), Shallow: rapid.Bool().Draw(t, "shallow"),
		}
	case 5:
		return &agent.DeleteCheckpoint{Key: key, IfRevision: near(t, checkpoint.Revision), Seal: seals.Draw(t, "seal")}
	case 6:
		return &agent.DeleteThread{Thread: key, IfIncarnation: incarnation(t, thread.Incarnation), Seal: seals.Draw(t, "seal")}
	case 7:
		return &agent.ForkThread{Thread: key, NewThread: keys.Filter(func(k string) bool { return k != key }).Draw(t, "new"), AtRev: near(t, thread.Rev)}
	case 8:
		op := &agent.CompactThread{Thread: key, BeforeSeq: rapid.Uint64Range(1, thread.Rev+1).Draw(t, "before")}
		if p := g.model.current(keys.Draw(t, "pinned by")).Thread; p != nil {
			op.Thread, op.BeforeSeq = p.Thread, max(p.Rev, 1)+rapid.Uint64Range(0, 1).Draw(t, "past")
		}
		if rapid.Bool().Draw(t, "summary") {
			op.Summary = agent.JSON(text)
		}
		return op
	case 9:
		return g.hibernate(t, key, thread)
	case 10, 11, 12, 13:
		return g.claimOp(t, key)
	case 14, 15, 16:
		return g.memoryOp(t, key)
	case 21, 22, 23, 24, 25, 26:
		return g.sessionOp(t, key)
	case 27, 28:
		return g.managerOp(t, key)
	case 29, 30:
		return drawDeletion(t)
	default:
		op := &agent.AppendThread{
			Thread: key, Entries: g.drafts(t, 3), ExpectedRev: near(t, thread.Rev), IfIncarnation: incarnation(t, thread.Incarnation),
		}
		if rapid.IntRange(0, 3).Draw(t, "with metadata") == 0 {
			op.Metadata = agent.JSON(text)
		}
		op.SkipExisting = rapid.IntRange(0, 3).Draw(t, "skip") == 0
		op.CreateOnly = op.IfIncarnation == 0 && op.ExpectedRev == nil && rapid.IntRange(0, 7).Draw(t, "create only") == 0
		return op
	}
}

// hibernate draws a hibernate op at the end of the thread, or close to it.
func (g *generator) hibernate(t *rapid.T, key string, thread modelThread) agent.Op {
	from := rapid.Uint64Range(0, thread.Rev).Draw(t, "from")
	var all []agent.Draft
	for _, e := range thread.entries[from:] {
		all = append(all, agent.Draft{ID: e.ID, Kind: e.Kind, Payload: e.Payload})
	}
	switch rapid.IntRange(0, 5).Draw(t, "slip") {
	case 0:
		all = all[:len(all)/2]
	case 1:
		for i := range all {
			g.n++
			all[i] = agent.Draft{Payload: agent.JSON(fmt.Sprintf(`{"n":%d}`, g.n))}
		}
	}
	all = append(all, g.drafts(t, 2)...)
	return &agent.HibernateThread{Thread: key, FromSeq: from, Rev: from + uint64(len(all)), Entries: all}
}

func (g *generator) commit(t *rapid.T) agent.Commit {
	if len(g.sent) > 0 && rapid.IntRange(0, 5).Draw(t, "again") == 0 {
		return rapid.SampledFrom(g.sent).Draw(t, "which")
	}
	c := agent.Commit{Fence: g.fence(t)}
	for range rapid.IntRange(1, 3).Draw(t, "ops") {
		c.Ops = append(c.Ops, g.op(t))
	}
	if rapid.Bool().Draw(t, "request") {
		g.seq++
		c.Request = agent.Request{Client: "client", Seq: g.seq, Low: rapid.Uint64Range(max(g.seq, 4)-3, g.seq).Draw(t, "low")}
		g.sent = append(g.sent, c)
	}
	return c
}

// judge compares the machine's decision on a commit with the model's.
func judge(t *rapid.T, m *model, c agent.Commit, got agent.Decided) {
	t.Helper()
	if seq := c.Request.Seq; seq != 0 {
		if had, ok := m.answers[seq]; ok {
			if diff := cmp.Diff(had, got); diff != "" && seq >= m.low {
				t.Fatalf("request %d was answered otherwise the second time (-first +second):\n%s", seq, diff)
			}
			if seq < m.low && (got.Err == nil || got.Err.Code != agent.CodeRequestExpired) {
				t.Fatalf("request %d is below %d and was answered %+v", seq, m.low, got)
			}
			return
		}
		m.low = max(m.low, c.Request.Low)
	}
	results, op, code := m.commit(c, got)
	if c.Request.Seq != 0 {
		m.answers[c.Request.Seq] = got
	}
	if code != "" || got.Err != nil {
		if got.Err == nil || got.Err.Code != code || got.Err.Op != op || !got.Err.Final {
			t.Fatalf("%s\nwas decided %+v (%v), the model says %q at op %d", describe(c), got, got.Err, code, op)
		}
		return
	}
	if diff := cmp.Diff(results, got.Result.Results, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s\nresults (-model +machine):\n%s", describe(c), diff)
	}
}

func describe(c agent.Commit) (out string) {
	for _, op := range c.Ops {
		out += fmt.Sprintf("%T%+v\n", op, op)
	}
	return out
}

// sameState compares all that can be read with the model.
func sameState(t *rapid.T, r *subject, m *model) {
	t.Helper()
	want := agent.Scope{Keys: uint64(len(m.values) + len(m.checkpoints) + len(m.threads) + len(m.claims) + len(m.memories) + len(m.sessions.Sessions) + len(m.managers))}
	sameSessions(t, r, m)
	bytes, known := m.sessions.Bytes()
	want.Bytes = sameMemories(t, r, m) + sameManagers(t, r, m) + bytes
	for _, key := range []string{"a", "b", "c"} {
		v, found := m.values[key]
		same(t, r, &agent.GetValue{Key: key}, &v, found)
		want.Bytes += uint64(len(v.Bytes))
		held, found := m.claims[key]
		same(t, r, &agent.GetClaim{Claim: key}, ptr(held.seen(key, m)), found)
		c := m.current(key)
		same(t, r, &agent.GetCheckpoint{Key: key}, &c, c.Revision > 0)
		all := m.checkpoints[key]
		for _, old := range all[max(len(all), agent.HistoryDefault)-agent.HistoryDefault:] {
			same(t, r, &agent.GetCheckpoint{Key: key, Revision: old.Revision}, &old, true)
			want.Bytes += uint64(len(old.State) + len(old.Metadata))
		}
		th, found := m.threads[key]
		same(t, r, &agent.GetThread{Thread: key}, &th.Thread, found)
		if !found {
			continue
		}
		items := th.entries[th.Floor:]
		same(t, r, &agent.LoadEntries{Thread: key}, &agent.Entries{Thread: th.Thread, Items: items}, true)
		sameKinds(t, r, th, items)
		if m.countsWhole {
			want.Bytes += uint64(len(th.Metadata) + len(th.Summary))
		}
		for _, e := range items {
			same(t, r, &agent.GetEntry{Thread: key, Entry: e.ID}, &e, true)
			if th.ForkedFrom == nil || e.Seq >= th.ForkedFrom.Rev {
				want.Bytes += uint64(e.Size())
			}
		}
		same(t, r, &agent.VerifyThread{Thread: key}, &agent.Verified{OK: true, Rev: th.Rev, Head: th.Head}, true)
	}
	want.Bytes += r.sharedBytes()
	got := r.answer(&agent.GetScope{})
	sameLists(t, r, m)
	underWay := sameDeletions(t, r, m)
	if scope, ok := got.Found.(*agent.Scope); ok && !underWay && (scope.Keys != want.Keys || known && scope.Bytes != want.Bytes) {
		t.Fatalf("the scope counts %d keys and %d bytes, the model %d and %d", scope.Keys, scope.Bytes, want.Keys, want.Bytes)
	}
}

// sameKinds compares reads of some kinds with the model.
func sameKinds(t *rapid.T, r *subject, th modelThread, items []agent.Entry) {
	t.Helper()
	for _, kinds := range [][]string{{"message"}, {"mes"}, {"note", "message"}, {"none"}} {
		of := agent.OfKind(items, kinds...)
		same(t, r, &agent.LoadEntries{Thread: th.ID, Kinds: kinds}, &agent.Entries{Thread: th.Thread, Items: of}, true)
		last := of[max(len(of), 2)-2:]
		same(t, r, &agent.LoadEntries{Thread: th.ID, Kinds: kinds, Tail: 2}, &agent.Entries{Thread: th.Thread, Items: last}, true)
	}
}

func same(t *rapid.T, r *subject, q agent.Read, want agent.Found, found bool) {
	t.Helper()
	got := r.answer(q)
	if !found {
		if got.Err == nil || got.Err.Code != agent.CodeNotFound {
			t.Fatalf("%T%+v answers %+v, the model has nothing", q, q, got)
		}
		return
	}
	if got.Err != nil {
		t.Fatalf("%T%+v: %v, the model has %+v", q, q, got.Err, want)
	}
	if diff := cmp.Diff(want, got.Found, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%T%+v (-model +machine):\n%s", q, q, diff)
	}
}

// For any commits, the machine has the model's decisions and state. Other machines that apply the
// same log, or restore a snapshot and apply the rest, have the same bytes.
func TestTheMachineDoesWhatTheModelSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, m := newSubject(t), newModel()
		defer r.close()
		if rapid.Bool().Draw(rt, "newest feature level") {
			r.record()
			m.countsWhole = true
		} else {
			m.sessions.ExpiresLate, m.sessions.AsksOnce, m.repeatsMetadata = true, true, true
		}
		g := &generator{model: m}
		for range rapid.IntRange(1, 25).Draw(rt, "entries") {
			commits := g.entry(rt, r)
			for i, d := range r.batch(commits...) {
				judge(rt, m, commits[i], d)
			}
			sameState(rt, r, m)
		}
		for sameDeletions(rt, r, m) {
			r.pass()
			sameState(rt, r, m)
		}
		if len(r.log) == 0 {
			return
		}
		// Another machine takes a snapshot at some entry; a third one restores it and applies the
		// rest.
		at := rapid.IntRange(1, len(r.log)).Draw(rt, "snapshot at")
		again := openPeer(t, storage.MemFS())
		defer again.close(t)
		again.apply(t, r.log[:at]...)
		again.snapshot(t, uint64(at), r.log[at-1].Term)
		again.apply(t, r.log[at:]...)
		restored := openPeer(t, storage.MemFS())
		defer restored.close(t)
		if err := restored.install(again); err != nil {
			rt.Fatal(err)
		}
		restored.apply(t, r.log[at:]...)
		if want := r.hash(); again.hash(t) != want || restored.hash(t) != want {
			rt.Fatalf("three machines that were fed the same log, one from a snapshot at entry %d on, differ", at)
		}
		if m.countsWhole {
			if err := r.checkQueues(); err != nil {
				rt.Fatal(err)
			}
		}
	})
}
