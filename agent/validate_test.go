package agent_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
)

// refusal is the expected error of a request; the zero refusal means that the request
// is valid.
type refusal struct {
	code  agent.Code
	op    int
	field string
}

func check(t *testing.T, err error, want refusal) {
	t.Helper()
	if want.code == "" {
		if err != nil {
			t.Fatalf("refused: %v", err)
		}
		return
	}
	var e *agent.Error
	if !errors.As(err, &e) {
		t.Fatalf("%v; want %v", err, want)
	}
	if got := (refusal{e.Code, e.Op, e.Field}); got != want {
		t.Fatalf("refused as %v (%v); want %v", got, err, want)
	}
	if e.Final || e.Detail == "" {
		t.Fatalf("final: %v, detail %q", e.Final, e.Detail)
	}
	if (e.Code == agent.CodeTooLarge) != (e.Limit != "") {
		t.Fatalf("limit %q", e.Limit)
	}
}

// object returns a compact JSON object of exactly size bytes.
func object(size int) agent.JSON {
	return agent.JSON(`{"a":"` + strings.Repeat("x", size-8) + `"}`)
}

func text(size int) string { return strings.Repeat("x", size) }

func ops(op ...agent.Op) agent.Commit { return agent.Commit{Ops: op} }

func fill[T any](n int, v T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = v
	}
	return all
}

func ptr[T any](v T) *T { return &v }

func TestCommitIsJudgedAtEachLimit(t *testing.T) {
	tooLarge := func(op int, field string) refusal { return refusal{agent.CodeTooLarge, op, field} }
	invalid := func(op int, field string) refusal { return refusal{agent.CodeInvalid, op, field} }
	good := &agent.AppendThread{Thread: "t"}
	for _, c := range []struct {
		name   string
		commit agent.Commit
		want   refusal
	}{
		{"no ops", ops(), invalid(-1, "ops")},
		{"an op that is not there", ops(good, nil), invalid(1, "op")},
		{"ops at the limit", ops(fill[agent.Op](agent.CommitOpsMax, good)...), refusal{}},
		{"ops past it", ops(fill[agent.Op](agent.CommitOpsMax+1, good)...), tooLarge(-1, "ops")},
		{"scope at the limit", agent.Commit{Scope: text(512), Ops: []agent.Op{good}}, refusal{}},
		{"scope past it", agent.Commit{Scope: text(513), Ops: []agent.Op{good}}, tooLarge(-1, "scope")},
		{"scope with NUL", agent.Commit{Scope: "a\x00", Ops: []agent.Op{good}}, invalid(-1, "scope")},
		{"principal past the limit", agent.Commit{Principal: text(513), Ops: []agent.Op{good}}, tooLarge(-1, "principal")},
		{"fence", agent.Commit{Fence: &agent.Fence{Claim: "c", Epoch: 1}, Ops: []agent.Op{good}}, refusal{}},
		{"fence without a claim", agent.Commit{Fence: &agent.Fence{Epoch: 1}, Ops: []agent.Op{good}}, invalid(-1, "fence.claim")},
		{"fence without an epoch", agent.Commit{Fence: &agent.Fence{Claim: "c"}, Ops: []agent.Op{good}}, invalid(-1, "fence.epoch")},

		{"entries at the limit", ops(&agent.AppendThread{Thread: "t", Entries: make([]agent.Draft, 1000)}, &agent.HibernateThread{Thread: "u", Rev: 24, Entries: make([]agent.Draft, 24)}), refusal{}},
		{"entries past it over two ops", ops(&agent.AppendThread{Thread: "t", Entries: make([]agent.Draft, 1000)}, &agent.HibernateThread{Thread: "u", Rev: 25, Entries: make([]agent.Draft, 25)}), tooLarge(1, "entries")},
		{"commit at the limit", ops(&agent.PutValue{Key: "k", Bytes: make([]byte, 4<<20)}, &agent.PutValue{Key: "k", Bytes: make([]byte, 4<<20-2)}), refusal{}},
		{"commit past it", ops(&agent.PutValue{Key: "k", Bytes: make([]byte, 4<<20)}, &agent.PutValue{Key: "k", Bytes: make([]byte, 4<<20-1)}), tooLarge(1, "ops")},
		{"delete_scope alone", ops(&agent.DeleteScope{}), refusal{}},
		{"delete_scope with others", ops(good, &agent.DeleteScope{}), invalid(1, "op")},

		{"value at the limit", ops(&agent.PutValue{Key: text(512), ContentType: text(128), Bytes: make([]byte, agent.ValueBytesMax), TTL: agent.TTLMax}), refusal{}},
		{"value past it", ops(&agent.PutValue{Key: "k", Bytes: make([]byte, agent.ValueBytesMax+1)}), tooLarge(0, "bytes")},
		{"value key past it", ops(good, &agent.PutValue{Key: text(513)}), tooLarge(1, "key")},
		{"content type past it", ops(&agent.PutValue{Key: "k", ContentType: text(129)}), tooLarge(0, "content_type")},
		{"content type with a line break", ops(&agent.PutValue{Key: "k", ContentType: "text/plain\r\nX: y"}), invalid(0, "content_type")},
		{"if_bytes past it", ops(&agent.PutValue{Key: "k", IfBytes: ptr(make([]byte, agent.ValueBytesMax+1))}), tooLarge(0, "if_bytes")},
		{"ttl past it", ops(&agent.PutValue{Key: "k", TTL: agent.TTLMax + 1}), invalid(0, "ttl")},
		{"ttl below zero", ops(&agent.PutValue{Key: "k", TTL: -1}), invalid(0, "ttl")},
		{"ttl of 1 ms", ops(&agent.PutValue{Key: "k", TTL: time.Millisecond}), refusal{}},
		{"ttl below 1 ms", ops(&agent.PutValue{Key: "k", TTL: time.Millisecond - 1}), invalid(0, "ttl")},
		{"delete value", ops(&agent.DeleteValue{Key: "k", Seal: agent.SealMax}), refusal{}},
		{"delete value, seal past it", ops(&agent.DeleteValue{Key: "k", Seal: agent.SealMax + 1}), invalid(0, "seal")},
		{"delete value, seal below zero", ops(&agent.DeleteValue{Key: "k", Seal: -time.Second}), invalid(0, "seal")},
		{"delete value without a key", ops(&agent.DeleteValue{}), invalid(0, "key")},

		{"checkpoint at the limit", ops(&agent.PutCheckpoint{Key: "k", State: object(agent.CheckpointBytesMax - agent.MetadataBytesMax), Metadata: object(agent.MetadataBytesMax), Lifecycle: "title_generated", TTL: agent.TTLMax}), refusal{}},
		{"checkpoint past it", ops(&agent.PutCheckpoint{Key: "k", State: object(agent.CheckpointBytesMax - 1)}), tooLarge(0, "state")},
		{"checkpoint, white space does not count", ops(&agent.PutCheckpoint{Key: "k", State: append(object(agent.CheckpointBytesMax-2), "   "...)}), refusal{}},
		{"checkpoint metadata past it", ops(&agent.PutCheckpoint{Key: "k", Metadata: object(agent.MetadataBytesMax + 1)}), tooLarge(0, "metadata")},
		{"lifecycle of no checkpoint", ops(&agent.PutCheckpoint{Key: "k", Lifecycle: "on_whim"}), invalid(0, "lifecycle")},
		{"lifecycle not UTF-8", ops(&agent.PutCheckpoint{Key: "k", Lifecycle: "\xff"}), invalid(0, "lifecycle")},
		{"checkpoint ttl past it", ops(&agent.PutCheckpoint{Key: "k", TTL: agent.TTLMax + 1}), invalid(0, "ttl")},
		{"P-13 state not an object", ops(&agent.PutCheckpoint{Key: "k", State: agent.JSON("[]")}), invalid(0, "state")},
		{"metadata not an object", ops(&agent.PutCheckpoint{Key: "k", Metadata: agent.JSON("7")}), invalid(0, "metadata")},
		{"pointer without a thread", ops(&agent.PutCheckpoint{Key: "k", Thread: &agent.Pointer{}}), invalid(0, "thread.id")},
		{"pointer with half a head", ops(&agent.PutCheckpoint{Key: "k", Thread: &agent.Pointer{Thread: "t", Head: "00"}}), invalid(0, "thread.head")},
		{"patch at the limit", ops(&agent.PatchCheckpoint{Key: "k", Patch: object(agent.CheckpointBytesMax)}), refusal{}},
		{"patch past it", ops(&agent.PatchCheckpoint{Key: "k", Patch: object(agent.CheckpointBytesMax + 1)}), tooLarge(0, "patch")},
		{"patch absent", ops(&agent.PatchCheckpoint{Key: "k"}), invalid(0, "patch")},
		{"patch null", ops(&agent.PatchCheckpoint{Key: "k", Patch: agent.JSON("null")}), invalid(0, "patch")},
		{"patch not an object", ops(&agent.PatchCheckpoint{Key: "k", Patch: agent.JSON("1")}), invalid(0, "patch")},
		{"delete checkpoint, seal past it", ops(&agent.DeleteCheckpoint{Key: "k", Seal: agent.SealMax + 1}), invalid(0, "seal")},

		{"entry at the limit", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: "id", Kind: "kind", Payload: object(agent.EntryBytesMax - 26), Refs: object(20)}}}), refusal{}},
		{"entry past it", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{}, {ID: "id", Kind: "kind", Payload: object(agent.EntryBytesMax - 25), Refs: object(20)}}}), tooLarge(0, "entries[1].payload")},
		{"entry id past it", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: text(513)}}}), tooLarge(0, "entries[0].id")},
		{"entry id ..", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{ID: ".."}}}), invalid(0, "entries[0].id")},
		{"kind at the limit", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: text(128)}}}), refusal{}},
		{"kind past it", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: text(129)}}}), tooLarge(0, "entries[0].kind")},
		{"kind not UTF-8", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "\xff"}}}), invalid(0, "entries[0].kind")},
		{"S-21 payload not an object", ops(good, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`"text"`)}}}), invalid(1, "entries[0].payload")},
		{"S-21 refs not an object", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Refs: agent.JSON(`["x"]`)}}}), invalid(0, "entries[0].refs")},
		{"S-15 false is not null", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Refs: agent.JSON(`false`)}}}), invalid(0, "entries[0].refs")},
		{"payload with duplicate members", ops(&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{"a":1,"a":1}`)}}}), invalid(0, "entries[0].payload")},
		{"expected head", ops(&agent.AppendThread{Thread: "t", ExpectedHead: agent.Head{}.String()}), refusal{}},
		{"half an expected head", ops(&agent.AppendThread{Thread: "t", ExpectedHead: "ab"}), invalid(0, "expected_head")},
		{"thread metadata past it", ops(&agent.AppendThread{Thread: "t", Metadata: object(agent.MetadataBytesMax + 1)}), tooLarge(0, "metadata")},
		{"no thread", ops(&agent.AppendThread{}), invalid(0, "thread")},
		{"hibernate adds up", ops(&agent.HibernateThread{Thread: "t", FromSeq: 5, Rev: 7, Entries: make([]agent.Draft, 2)}), refusal{}},
		{"hibernate with one too few", ops(&agent.HibernateThread{Thread: "t", FromSeq: 5, Rev: 8, Entries: make([]agent.Draft, 2)}), invalid(0, "rev")},
		{"hibernate with one too many", ops(&agent.HibernateThread{Thread: "t", FromSeq: 5, Rev: 6, Entries: make([]agent.Draft, 2)}), invalid(0, "rev")},
		{"hibernate from past its rev", ops(&agent.HibernateThread{Thread: "t", FromSeq: 5, Rev: 4}), invalid(0, "rev")},
		{"hibernate that would wrap around", ops(&agent.HibernateThread{Thread: "t", FromSeq: 1<<64 - 1, Rev: 0, Entries: make([]agent.Draft, 1)}), invalid(0, "rev")},
		{"hibernate, entry at fault", ops(&agent.HibernateThread{Thread: "t", Rev: 1, Entries: []agent.Draft{{Payload: agent.JSON("1")}}}), invalid(0, "entries[0].payload")},
		{"delete thread, seal past it", ops(&agent.DeleteThread{Thread: "t", Seal: agent.SealMax + 1}), invalid(0, "seal")},
		{"summary at the limit", ops(&agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: object(agent.EntryBytesMax)}), refusal{}},
		{"summary past it", ops(&agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: object(agent.EntryBytesMax + 1)}), tooLarge(0, "summary")},
		{"summary not an object", ops(&agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: agent.JSON("1")}), invalid(0, "summary")},
		{"compact nothing", ops(good, &agent.CompactThread{Thread: "t"}), invalid(1, "before_seq")},
		{"fork", ops(&agent.ForkThread{Thread: "t", NewThread: "u"}), refusal{}},
		{"fork into itself", ops(&agent.ForkThread{Thread: "t", NewThread: "t"}), invalid(0, "new_thread")},
		{"fork into nothing", ops(&agent.ForkThread{Thread: "t"}), invalid(0, "new_thread")},
		{"history at the limit", ops(&agent.PutScope{Policy: agent.Policy{History: agent.HistoryMax}}), refusal{}},
		{"changes at the limit", ops(&agent.PutScope{Policy: agent.Policy{ChangesMax: agent.ChangesMaxMost}}), refusal{}},
		{"changes past it", ops(&agent.PutScope{Policy: agent.Policy{ChangesMax: agent.ChangesMaxMost + 1}}), invalid(0, "changes_max")},
		{"history past it", ops(&agent.PutScope{Policy: agent.Policy{History: agent.HistoryMax + 1}}), invalid(0, "history")},

		{"take", ops(&agent.TakeClaim{Claim: text(512), Holder: text(512), TTL: agent.ClaimTTLMin}), refusal{}},
		{"take without a claim", ops(&agent.TakeClaim{Holder: "h"}), invalid(0, "claim")},
		{"take, claim past it", ops(&agent.TakeClaim{Claim: text(513), Holder: "h"}), tooLarge(0, "claim")},
		{"take without a holder", ops(&agent.TakeClaim{Claim: "c"}), invalid(0, "holder")},
		{"take, holder past it", ops(&agent.TakeClaim{Claim: "c", Holder: text(513)}), tooLarge(0, "holder")},
		{"take, ttl at the limit", ops(&agent.TakeClaim{Claim: "c", Holder: "h", TTL: agent.ClaimTTLMax}), refusal{}},
		{"take, ttl past it", ops(good, &agent.TakeClaim{Claim: "c", Holder: "h", TTL: agent.ClaimTTLMax + 1}), invalid(1, "ttl")},
		{"take, ttl too short", ops(&agent.TakeClaim{Claim: "c", Holder: "h", TTL: agent.ClaimTTLMin - 1}), invalid(0, "ttl")},
		{"take, ttl below zero", ops(&agent.TakeClaim{Claim: "c", Holder: "h", TTL: -time.Minute}), invalid(0, "ttl")},
		{"renew", ops(&agent.RenewClaim{Claim: "c", Holder: "h", Epoch: 1}), refusal{}},
		{"renew, ttl past it", ops(&agent.RenewClaim{Claim: "c", Holder: "h", Epoch: 1, TTL: agent.ClaimTTLMax + 1}), invalid(0, "ttl")},
		{"renew without an epoch", ops(&agent.RenewClaim{Claim: "c", Holder: "h"}), invalid(0, "epoch")},
		{"renew without a holder", ops(&agent.RenewClaim{Claim: "c", Epoch: 1}), invalid(0, "holder")},
		{"release", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1}), refusal{}},
		{"release without a claim", ops(&agent.ReleaseClaim{Holder: "h", Epoch: 1}), invalid(0, "claim")},
		{"release without an epoch", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h"}), invalid(0, "epoch")},
		{"hand over", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1, To: "h", TTL: agent.ClaimTTLMin}), refusal{}},
		{"hand over to ..", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1, To: ".."}), invalid(0, "to")},
		{"hand over, ttl past it", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1, To: "i", TTL: agent.ClaimTTLMax + 1}), invalid(0, "ttl")},
		{"release for a time", ops(&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1, TTL: time.Minute}), invalid(0, "ttl")},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.commit.Validate(), c.want) })
	}
	take := &agent.TakeClaim{Claim: "c", Holder: "h"}
	if c := ops(take); c.Validate() != nil || take.TTL != agent.ClaimTTLDefault {
		t.Errorf("a ttl that was left out became %v", take.TTL)
	}
}

func TestRequestIsJudged(t *testing.T) {
	for _, c := range []struct {
		name    string
		request agent.Request
		field   string
	}{
		{"none", agent.Request{}, ""},
		{"first", agent.Request{Client: "c", Seq: 1}, ""},
		{"low at seq", agent.Request{Client: "c", Seq: 5, Low: 5, TTL: agent.RequestTTLMax}, ""},
		{"low past seq", agent.Request{Client: "c", Seq: 5, Low: 6}, "request.low"},
		{"seq 0", agent.Request{Client: "c"}, "request.seq"},
		{"no client", agent.Request{Seq: 1}, "request.client"},
		{"no client but a ttl", agent.Request{TTL: time.Hour}, "request.client"},
		{"client with NUL", agent.Request{Client: "a\x00", Seq: 1}, "request.client"},
		{"ttl past the limit", agent.Request{Client: "c", Seq: 1, TTL: agent.RequestTTLMax + 1}, "request.ttl"},
		{"ttl below zero", agent.Request{Client: "c", Seq: 1, TTL: -1}, "request.ttl"},
	} {
		t.Run(c.name, func(t *testing.T) {
			commit := agent.Commit{Request: c.request, Ops: []agent.Op{&agent.DeleteScope{}}}
			want := refusal{}
			if c.field != "" {
				want = refusal{agent.CodeInvalid, -1, c.field}
			}
			check(t, commit.Validate(), want)
		})
	}
}

func TestValidateSettlesJSON(t *testing.T) {
	put := &agent.PutCheckpoint{Key: "k", State: agent.JSON(` { "b" : 1, "__thread__" : {"x":[1]} , "a":1.0 } `), Metadata: agent.JSON(" null ")}
	none := &agent.PutCheckpoint{Key: "k"}
	escaped := &agent.PutCheckpoint{Key: "k", State: agent.JSON(`{"\u005f_thread__":1,"x":{"__thread__":"inside stays"}}`)}
	patch := &agent.PatchCheckpoint{Key: "k", Patch: agent.JSON(`{"__thread__":null,"a":null}`)}
	appended := &agent.AppendThread{Thread: "t", Metadata: agent.JSON("null"), Entries: []agent.Draft{{Payload: agent.JSON("{ }"), Refs: agent.JSON("null")}}}
	commit := ops(put, none, escaped, patch, appended, &agent.CompactThread{Thread: "t", BeforeSeq: 1, Summary: agent.JSON("null")})
	if err := commit.Validate(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name string
		got  agent.JSON
		want string
	}{
		{"P-2 the thread body goes", put.State, `{"b":1,"a":1.0}`},
		{"null metadata", put.Metadata, `{}`},
		{"no state", none.State, `{}`},
		{"the thread body, spelled with escapes", escaped.State, `{"x":{"__thread__":"inside stays"}}`},
		{"a patch's thread body", patch.Patch, `{"a":null}`},
		{"payload", appended.Entries[0].Payload, `{}`},
		{"S-15 null refs", appended.Entries[0].Refs, ``},
		{"null thread metadata", appended.Metadata, ``},
		{"null summary", commit.Ops[5].(*agent.CompactThread).Summary, ``},
	} {
		if string(c.got) != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
	if commit.Scope != agent.DefaultScope {
		t.Errorf("scope %q", commit.Scope)
	}
}

func TestValidateDoesNotLookTwice(t *testing.T) {
	op := &agent.PutValue{Key: "k"}
	commit := ops(op)
	if err := commit.Validate(); err != nil {
		t.Fatal(err)
	}
	op.Key = ""
	if err := commit.Validate(); err != nil {
		t.Fatalf("looked again: %v", err)
	}
	trusted := ops(op)
	trusted.Trust()
	if err := trusted.Validate(); err != nil {
		t.Fatalf("did not trust: %v", err)
	}
}

func TestValidateOfAnOrderlyCommitCopiesNothing(t *testing.T) {
	commit := agent.Commit{Scope: "s", Request: agent.Request{Client: "c", Seq: 1}, Ops: []agent.Op{
		&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "message", Payload: object(1000), Refs: agent.JSON("{}")}}},
		&agent.PutCheckpoint{Key: "k", State: object(1000), Metadata: agent.JSON("{}"), Thread: &agent.Pointer{Thread: "t", Rev: 1}},
	}}
	if n := testing.AllocsPerRun(100, func() {
		again := commit
		if err := again.Validate(); err != nil {
			t.Fatal(err)
		}
	}); n > 2 && !raced { // the copy escapes, and one argument list
		t.Fatalf("%v allocations", n)
	}
}

func TestReadsAreJudged(t *testing.T) {
	one := &agent.GetScope{}
	for _, c := range []struct {
		name  string
		reads agent.Reads
		want  refusal
	}{
		{"none", agent.Reads{}, refusal{agent.CodeInvalid, -1, "reads"}},
		{"at the limit", agent.Reads{Reads: fill[agent.Read](agent.ReadsMax, one)}, refusal{}},
		{"past it", agent.Reads{Reads: fill[agent.Read](agent.ReadsMax+1, one)}, refusal{agent.CodeTooLarge, -1, "reads"}},
		{"one that is not there", agent.Reads{Reads: []agent.Read{one, nil}}, refusal{agent.CodeInvalid, 1, "read"}},
		{"scope ..", agent.Reads{Scope: "..", Reads: []agent.Read{one}}, refusal{agent.CodeInvalid, -1, "scope"}},
		{"value", agent.Reads{Reads: []agent.Read{&agent.GetValue{}}}, refusal{agent.CodeInvalid, 0, "key"}},
		{"checkpoint", agent.Reads{Reads: []agent.Read{one, &agent.GetCheckpoint{Key: text(513)}}}, refusal{agent.CodeTooLarge, 1, "key"}},
		{"history", agent.Reads{Reads: []agent.Read{&agent.CheckpointHistory{Key: "a\x00"}}}, refusal{agent.CodeInvalid, 0, "key"}},
		{"thaw", agent.Reads{Reads: []agent.Read{&agent.Thaw{}}}, refusal{agent.CodeInvalid, 0, "key"}},
		{"thread", agent.Reads{Reads: []agent.Read{&agent.GetThread{}}}, refusal{agent.CodeInvalid, 0, "thread"}},
		{"verify", agent.Reads{Reads: []agent.Read{&agent.VerifyThread{}}}, refusal{agent.CodeInvalid, 0, "thread"}},
		{"entry", agent.Reads{Reads: []agent.Read{&agent.GetEntry{Thread: "t"}}}, refusal{agent.CodeInvalid, 0, "entry"}},
		{"page at the limit", agent.Reads{Reads: []agent.Read{&agent.ListValues{Page: agent.Page{Prefix: text(512), After: text(512), Limit: agent.ListLimitMax}}}}, refusal{}},
		{"page past it", agent.Reads{Reads: []agent.Read{&agent.ListCheckpoints{Page: agent.Page{Limit: agent.ListLimitMax + 1}}}}, refusal{agent.CodeInvalid, 0, "limit"}},
		{"prefix past it", agent.Reads{Reads: []agent.Read{&agent.ListThreads{Page: agent.Page{Prefix: text(513)}}}}, refusal{agent.CodeTooLarge, 0, "prefix"}},
		{"after with NUL", agent.Reads{Reads: []agent.Read{&agent.ListScopes{Page: agent.Page{After: "\x00"}}}}, refusal{agent.CodeInvalid, 0, "after"}},
		{"claim", agent.Reads{Reads: []agent.Read{&agent.GetClaim{}}}, refusal{agent.CodeInvalid, 0, "claim"}},
		{"claims", agent.Reads{Reads: []agent.Read{&agent.ListClaims{Page: agent.Page{Limit: agent.ListLimitMax + 1}}}}, refusal{agent.CodeInvalid, 0, "limit"}},
		{"load at the limit", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Limit: agent.EntriesLimitMax, Kinds: fill(agent.ReadKindsMax, "k")}}}, refusal{}},
		{"load past it", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Limit: agent.EntriesLimitMax + 1}}}, refusal{agent.CodeInvalid, 0, "limit"}},
		{"kinds past it", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Kinds: fill(agent.ReadKindsMax+1, "k")}}}, refusal{agent.CodeTooLarge, 0, "kinds"}},
		{"kind past it", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Kinds: []string{"a", text(129)}}}}, refusal{agent.CodeTooLarge, 0, "kinds[1]"}},
		{"tail and from", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Tail: 1, From: 1}}}, refusal{agent.CodeInvalid, 0, "tail"}},
		{"tail and to", agent.Reads{Reads: []agent.Read{&agent.LoadEntries{Thread: "t", Tail: 1, To: ptr(uint64(1))}}}, refusal{agent.CodeInvalid, 0, "tail"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.reads.Validate(), c.want) })
	}
	reads := agent.Reads{Reads: []agent.Read{one}}
	if err := reads.Validate(); err != nil || reads.Scope != agent.DefaultScope {
		t.Errorf("scope %q, %v", reads.Scope, err)
	}
}

func TestWatchIsJudged(t *testing.T) {
	for _, c := range []struct {
		name  string
		watch agent.Watch
		want  refusal
	}{
		{"nothing", agent.Watch{}, refusal{agent.CodeInvalid, -1, "thread"}},
		{"thread", agent.Watch{Thread: "t", From: 7, Incarnation: 1}, refusal{}},
		{"claim", agent.Watch{Claim: "c"}, refusal{}},
		{"claim ..", agent.Watch{Claim: ".."}, refusal{agent.CodeInvalid, -1, "claim"}},
		{"both", agent.Watch{Thread: "t", Claim: "c"}, refusal{agent.CodeInvalid, -1, "claim"}},
		{"claim from a seq", agent.Watch{Claim: "c", From: 1}, refusal{agent.CodeInvalid, -1, "claim"}},
		{"claim of an incarnation", agent.Watch{Claim: "c", Incarnation: 1}, refusal{agent.CodeInvalid, -1, "claim"}},
		{"changes", agent.Watch{Changes: true}, refusal{}},
		{"changes from a place", agent.Watch{Changes: true, From: 57, Skip: 4, Prefix: "threads/t"}, refusal{}},
		{"changes of a thread", agent.Watch{Changes: true, Thread: "t"}, refusal{agent.CodeInvalid, -1, "changes"}},
		{"changes of a claim", agent.Watch{Changes: true, Claim: "c"}, refusal{agent.CodeInvalid, -1, "changes"}},
		{"changes of an incarnation", agent.Watch{Changes: true, Incarnation: 1}, refusal{agent.CodeInvalid, -1, "changes"}},
		{"skip of no index", agent.Watch{Changes: true, Skip: 1}, refusal{agent.CodeInvalid, -1, "skip"}},
		{"prefix with a NUL", agent.Watch{Changes: true, Prefix: "a\x00"}, refusal{agent.CodeInvalid, -1, "prefix"}},
		{"prefix at the limit", agent.Watch{Changes: true, Prefix: strings.Repeat("x", agent.ChangePathBytesMax)}, refusal{}},
		{"prefix past it", agent.Watch{Changes: true, Prefix: strings.Repeat("x", agent.ChangePathBytesMax+1)}, refusal{agent.CodeTooLarge, -1, "prefix"}},
		{"prefix of a thread", agent.Watch{Thread: "t", Prefix: "x"}, refusal{agent.CodeInvalid, -1, "prefix"}},
		{"skip of a thread", agent.Watch{Thread: "t", Skip: 1}, refusal{agent.CodeInvalid, -1, "prefix"}},
		{"scope ..", agent.Watch{Scope: "..", Claim: "c"}, refusal{agent.CodeInvalid, -1, "scope"}},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.watch.Validate(), c.want) })
	}
}

func BenchmarkValidate(b *testing.B) {
	turn := func() agent.Commit {
		return agent.Commit{Scope: "s", Request: agent.Request{Client: "c", Seq: 1}, Ops: []agent.Op{
			&agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Kind: "message", Payload: object(1000), Refs: agent.JSON("{}")}}},
			&agent.PutCheckpoint{Key: "k", State: object(1000), Thread: &agent.Pointer{Thread: "t", Rev: 1}},
		}}
	}
	commit := turn()
	b.ReportAllocs()
	for b.Loop() {
		again := commit
		if err := again.Validate(); err != nil {
			b.Fatal(err)
		}
	}
}
