package command_test

import (
	"bytes"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/command/commandtest"
	logpb "dormouse/proto/log"
)

// equal compares domain values: nil and empty bytes are equal, except inside a compare, where nil
// means absent.
var equal = cmp.Options{
	cmpopts.IgnoreUnexported(agent.Commit{}),
	cmpopts.EquateEmpty(),
	cmp.Comparer(func(a, b *[]byte) bool {
		if a == nil || b == nil {
			return a == b
		}
		return (*a == nil) == (*b == nil) && bytes.Equal(*a, *b)
	}),
}

func optional[T any](t *rapid.T, g *rapid.Generator[T], label string) *T {
	if !rapid.Bool().Draw(t, label+" given") {
		return nil
	}
	v := g.Draw(t, label)
	return &v
}

var (
	genID       = rapid.StringMatching(`[a-zäß/ -]{1,8}`)
	genText     = rapid.StringN(0, 12, -1)
	genNumber   = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64())
	genTime     = rapid.Int64()
	genTTL      = rapid.Map(rapid.Int64Range(0, 1<<40), func(ms int64) time.Duration { return time.Duration(ms) * time.Millisecond })
	genBytes    = rapid.SliceOfN(rapid.Byte(), 0, 20)
	genHead     = rapid.Map(rapid.SliceOfN(rapid.Byte(), 32, 32), hex.EncodeToString)
	genMaybeHex = rapid.OneOf(rapid.Just(""), genHead)
	genJSON     = rapid.SampledFrom([]agent.JSON{nil, agent.JSON(`{}`), agent.JSON(`{"a":18446744073709551615}`), agent.JSON(`{"z":"<é>","a":[1.0,null]}`)})
	genPointer  = rapid.Custom(func(t *rapid.T) agent.Pointer {
		return agent.Pointer{
			Thread: genID.Draw(t, "thread"), Rev: genNumber.Draw(t, "rev"), Head: genMaybeHex.Draw(t, "head"), Incarnation: genNumber.Draw(t, "incarnation"),
		}
	})
	genIfBytes = rapid.Custom(func(t *rapid.T) []byte {
		if b := genBytes.Draw(t, "bytes"); len(b) > 0 || rapid.Bool().Draw(t, "empty") {
			return b
		}
		return nil
	})
	genDraft = rapid.Custom(func(t *rapid.T) agent.Draft {
		return agent.Draft{
			ID: genText.Draw(t, "id"), At: optional(t, genTime, "at"), Kind: genText.Draw(t, "kind"),
			Payload: genJSON.Draw(t, "payload"), Refs: genJSON.Draw(t, "refs"),
			ContentType: genText.Draw(t, "type"), Bytes: genIfBytes.Draw(t, "bytes"),
		}
	})
	genDrafts = rapid.SliceOfN(genDraft, 0, 4)
)

// genOps has a generator for every kind of op.
var genOps = []*rapid.Generator[agent.Op]{
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PutValue{
			Key: genID.Draw(t, "key"), ContentType: genText.Draw(t, "type"), Bytes: genBytes.Draw(t, "bytes"), TTL: genTTL.Draw(t, "ttl"),
			IfRevision: optional(t, genNumber, "if_revision"), IfBytes: optional(t, genIfBytes, "if_bytes"), IfIncarnation: genNumber.Draw(t, "inc"),
			Metadata: genJSON.Draw(t, "metadata"), SkipExisting: rapid.Bool().Draw(t, "skip"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.DeleteValue{
			Key: genID.Draw(t, "key"), IfRevision: optional(t, genNumber, "if_revision"), IfBytes: optional(t, genBytes, "if_bytes"),
			IfIncarnation: genNumber.Draw(t, "inc"), Seal: genTTL.Draw(t, "seal"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PutCheckpoint{
			Key: genID.Draw(t, "key"), Version: genNumber.Draw(t, "version"), State: genJSON.Draw(t, "state"), Thread: optional(t, genPointer, "thread"),
			Lifecycle: genText.Draw(t, "lifecycle"), Metadata: genJSON.Draw(t, "metadata"), TTL: genTTL.Draw(t, "ttl"),
			IfRevision: optional(t, genNumber, "if_revision"), IfIncarnation: genNumber.Draw(t, "inc"), SkipExisting: rapid.Bool().Draw(t, "skip"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PatchCheckpoint{
			Key: genID.Draw(t, "key"), Patch: genJSON.Draw(t, "patch"), IfRevision: optional(t, genNumber, "if_revision"), IfIncarnation: genNumber.Draw(t, "inc"),
			Upsert: rapid.Bool().Draw(t, "upsert"), Shallow: rapid.Bool().Draw(t, "shallow"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.DeleteCheckpoint{
			Key: genID.Draw(t, "key"), IfRevision: optional(t, genNumber, "if_revision"), IfIncarnation: genNumber.Draw(t, "inc"), Seal: genTTL.Draw(t, "seal"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.AppendThread{
			Thread: genID.Draw(t, "thread"), Entries: genDrafts.Draw(t, "entries"), ExpectedRev: optional(t, genNumber, "expected_rev"),
			ExpectedHead: genMaybeHex.Draw(t, "head"), Metadata: genJSON.Draw(t, "metadata"), IfIncarnation: genNumber.Draw(t, "inc"),
			SkipExisting: rapid.Bool().Draw(t, "skip"), CreateOnly: rapid.Bool().Draw(t, "create only"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.HibernateThread{
			Thread: genID.Draw(t, "thread"), Rev: genNumber.Draw(t, "rev"), FromSeq: genNumber.Draw(t, "from"), Entries: genDrafts.Draw(t, "entries"),
			Metadata: genJSON.Draw(t, "metadata"), IfIncarnation: genNumber.Draw(t, "inc"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.DeleteThread{Thread: genID.Draw(t, "thread"), IfIncarnation: genNumber.Draw(t, "inc"), Seal: genTTL.Draw(t, "seal")}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.CompactThread{
			Thread: genID.Draw(t, "thread"), BeforeSeq: genNumber.Draw(t, "before"), Summary: genJSON.Draw(t, "summary"), IfIncarnation: genNumber.Draw(t, "inc"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.ForkThread{
			Thread: genID.Draw(t, "thread"), NewThread: genID.Draw(t, "new"), AtRev: optional(t, genNumber, "at_rev"), IfIncarnation: genNumber.Draw(t, "inc"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PutScope{Policy: genPolicy.Draw(t, "policy")}
	}),
	rapid.Just(agent.Op(&agent.DeleteScope{})),
	rapid.Custom(func(t *rapid.T) agent.Op { return any1[agent.ImportScope](t) }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.WriteMemory{
			Agent: genID.Draw(t, "agent"), ID: genID.Draw(t, "id"), Session: genText.Draw(t, "session"), Class: genText.Draw(t, "class"),
			Kind: genText.Draw(t, "kind"), Content: genText.Draw(t, "content"), Data: genJSON.Draw(t, "data"),
			Tags: rapid.SliceOfN(genText, 0, 3).Draw(t, "tags"), Source: genText.Draw(t, "source"), Metadata: genJSON.Draw(t, "metadata"),
			Embedding: rapid.SliceOfN(rapid.Float32(), 0, 3).Draw(t, "embedding"), ObservedAt: optional(t, genTime, "observed"),
			ExpiresAt: genTime.Draw(t, "expires"), TTL: genTTL.Draw(t, "ttl"), IfRevision: optional(t, genNumber, "if_revision"),
			IfIncarnation: genNumber.Draw(t, "inc"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.DeleteMemory{
			Agent: genID.Draw(t, "agent"), ID: genID.Draw(t, "id"), IfRevision: optional(t, genNumber, "if_revision"),
			IfIncarnation: genNumber.Draw(t, "inc"), Seal: genTTL.Draw(t, "seal"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.PutToken{
			Hash: agent.HashToken(genText.Draw(t, "secret")), Principal: genID.Draw(t, "principal"), TTL: genTTL.Draw(t, "ttl"),
			Grants:   []agent.Grant{{Scopes: []string{genID.Draw(t, "scope")}, Verbs: []agent.Verb{agent.VerbRead, agent.VerbTokensChange}}},
			Founding: rapid.Bool().Draw(t, "founding"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op { return &agent.RevokeToken{ID: genID.Draw(t, "id")} }),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.TakeClaim{Claim: genID.Draw(t, "claim"), Holder: genID.Draw(t, "holder"), TTL: genTTL.Draw(t, "ttl")}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.RenewClaim{
			Claim: genID.Draw(t, "claim"), Holder: genID.Draw(t, "holder"), Epoch: genNumber.Draw(t, "epoch"), TTL: genTTL.Draw(t, "ttl"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.Op {
		return &agent.ReleaseClaim{
			Claim: genID.Draw(t, "claim"), Holder: genID.Draw(t, "holder"), Epoch: genNumber.Draw(t, "epoch"),
			To: genText.Draw(t, "to"), TTL: genTTL.Draw(t, "ttl"),
		}
	}),
}

var genPolicy = rapid.Custom(func(t *rapid.T) agent.Policy {
	return agent.Policy{
		History: genNumber.Draw(t, "history"), KeysMax: genNumber.Draw(t, "keys"), BytesMax: genNumber.Draw(t, "bytes"),
		MemoriesMax: genNumber.Draw(t, "memories"), MemoryBytesMax: genNumber.Draw(t, "memory bytes"), HistoryAgeMS: genNumber.Draw(t, "age"),
	}
})

var genCommit = rapid.Custom(func(t *rapid.T) agent.Commit {
	return agent.Commit{
		Scope:   genID.Draw(t, "scope"),
		Request: agent.Request{Client: genText.Draw(t, "client"), Seq: genNumber.Draw(t, "seq"), Low: genNumber.Draw(t, "low")},
		Fence: optional(t, rapid.Custom(func(t *rapid.T) agent.Fence {
			return agent.Fence{
				Claim: genID.Draw(t, "claim"), Epoch: genNumber.Draw(t, "epoch"), Agent: genText.Draw(t, "agent"), Since: genNumber.Draw(t, "since"),
			}
		}), "fence"),
		Principal: genText.Draw(t, "principal"),
		Token:     genText.Draw(t, "token"),
		Ops:       rapid.SliceOfN(rapid.OneOf(genOps...), 0, 5).Draw(t, "ops"),
	}
})

func TestEveryCommitDecodesToWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c, notAfter := genCommit.Draw(t, "commit"), genNumber.Draw(t, "not after")
		raw, err := command.EncodeCommit(&c, notAfter)
		if err != nil {
			t.Fatal(err)
		}
		again, err := command.EncodeCommit(&c, notAfter)
		if err != nil || !bytes.Equal(raw, again) {
			t.Fatalf("encoded twice, it differs: %v", err)
		}
		got, gotNotAfter, err := command.DecodeCommit(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, got, equal...); diff != "" || gotNotAfter != notAfter {
			t.Fatalf("not after %d, decoded %d; (-want +got)\n%s", notAfter, gotNotAfter, diff)
		}
	})
}

func TestTheBodyHashIsOfTheOpsAlone(t *testing.T) {
	hash := func(c agent.Commit, notAfter uint64) uint64 {
		raw, err := command.EncodeCommit(&c, notAfter)
		if err != nil {
			t.Fatal(err)
		}
		p := &logpb.Commit{}
		if err := proto.Unmarshal(raw, p); err != nil {
			t.Fatal(err)
		}
		return p.BodyHash
	}
	c := agent.Commit{Scope: "s", Request: agent.Request{Client: "c", Seq: 1}, Ops: []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("v")}}}
	retry := c
	retry.Request.Low = 1
	if hash(c, 1) != hash(retry, 2) {
		t.Error("a retry has another hash")
	}
	other := c
	other.Ops = []agent.Op{&agent.PutValue{Key: "k", Bytes: []byte("w")}}
	if hash(c, 1) == hash(other, 1) {
		t.Error("another body has the same hash")
	}
}

func TestAnEncoderRefusesWhatTheLogCannotSay(t *testing.T) {
	absent := []byte(nil)
	for name, op := range map[string]agent.Op{
		"head too short":           &agent.AppendThread{Thread: "t", ExpectedHead: "ab"},
		"head not hex":             &agent.PutCheckpoint{Key: "k", Thread: &agent.Pointer{Thread: "t", Head: strings.Repeat("z", 64)}},
		"delete of what is absent": &agent.DeleteValue{Key: "k", IfBytes: &absent},
		"nothing":                  nil,
	} {
		if _, err := command.EncodeCommit(&agent.Commit{Ops: []agent.Op{op}}, 0); err == nil {
			t.Errorf("%s: encoded", name)
		}
	}
}

func TestACommitWithWhatThisVersionDoesNotKnowIsAnError(t *testing.T) {
	for name, raw := range map[string][]byte{
		"unknown field": {0xf8, 0x07, 0x01},                   // field 127
		"unknown op":    {0x52, 0x04, 0xfa, 0x07, 0x01, 0x00}, // ops { field 127 }
		"empty op":      {0x52, 0x00},
		"garbage":       {0xff},
	} {
		if _, _, err := command.DecodeCommit(raw); err == nil {
			t.Errorf("%s: decoded", name)
		}
	}
}

var genThread = rapid.Custom(func(t *rapid.T) agent.Thread {
	return agent.Thread{
		ID: genID.Draw(t, "id"), Incarnation: genNumber.Draw(t, "inc"), Rev: genNumber.Draw(t, "rev"),
		Head: agent.Head(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "head")), Floor: genNumber.Draw(t, "floor"), Summary: genJSON.Draw(t, "summary"),
		CreatedAt: genTime.Draw(t, "created"), UpdatedAt: genTime.Draw(t, "updated"), Metadata: genJSON.Draw(t, "metadata"),
		ForkedFrom: optional(t, rapid.Custom(func(t *rapid.T) agent.ForkPoint {
			return agent.ForkPoint{Thread: genID.Draw(t, "thread"), Incarnation: genNumber.Draw(t, "inc"), Rev: genNumber.Draw(t, "rev")}
		}), "fork"),
	}
})

var genResult = rapid.OneOf(
	genSessionResult,
	genManagerResult,
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.ValueResult{
			Key: genID.Draw(t, "key"), Incarnation: genNumber.Draw(t, "inc"), Revision: genNumber.Draw(t, "rev"),
			CreatedAt: genTime.Draw(t, "created"), UpdatedAt: genTime.Draw(t, "updated"), Skipped: rapid.Bool().Draw(t, "skipped"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.CheckpointResult{
			Key: genID.Draw(t, "key"), Incarnation: genNumber.Draw(t, "inc"), Revision: genNumber.Draw(t, "rev"),
			CreatedAt: genTime.Draw(t, "created"), UpdatedAt: genTime.Draw(t, "updated"), Thread: optional(t, genPointer, "thread"),
			Skipped: rapid.Bool().Draw(t, "skipped"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.ThreadResult{
			Thread: genThread.Draw(t, "thread"),
			Entries: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) agent.EntryStamp {
				return agent.EntryStamp{ID: genID.Draw(t, "id"), Seq: genNumber.Draw(t, "seq"), At: genTime.Draw(t, "at"), Skipped: rapid.Bool().Draw(t, "skipped")}
			}), 0, 3).Draw(t, "entries"),
		}
	}),
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.DeleteResult{Existed: rapid.Bool().Draw(t, "existed"), Incarnation: genNumber.Draw(t, "inc")}
	}),
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.ScopeResult{Scope: agent.Scope{
			Name: genID.Draw(t, "name"), Keys: genNumber.Draw(t, "keys"), Bytes: genNumber.Draw(t, "bytes"),
			CreatedAt: genTime.Draw(t, "created"), Policy: genPolicy.Draw(t, "policy"),
		}}
	}),
	rapid.Custom(func(t *rapid.T) agent.OpResult { return any1[agent.ImportResult](t) }),
	rapid.Custom(func(t *rapid.T) agent.OpResult {
		return &agent.ClaimResult{Claim: agent.Claim{
			Name: genID.Draw(t, "name"), Holder: genText.Draw(t, "holder"), Epoch: genNumber.Draw(t, "epoch"), TTL: genTTL.Draw(t, "ttl"),
			ClaimedAt: genTime.Draw(t, "claimed"), ExpiresAt: genTime.Draw(t, "expires"),
		}}
	}),
)

var genRefusal = rapid.Custom(func(t *rapid.T) agent.Error {
	return agent.Error{
		Code: rapid.SampledFrom([]agent.Code{agent.CodeFenced, agent.CodeInvalid, "a code of a later version"}).Draw(t, "code"), Detail: genText.Draw(t, "detail"), Final: true, Op: rapid.IntRange(-1, 1024).Draw(t, "op"),
		Field: genText.Draw(t, "field"), Limit: genText.Draw(t, "limit"), Rev: genNumber.Draw(t, "rev"), Head: genMaybeHex.Draw(t, "head"),
		Thread: genText.Draw(t, "thread"), Revision: genNumber.Draw(t, "revision"), Seq: genNumber.Draw(t, "seq"), Incarnation: genNumber.Draw(t, "inc"),
		Floor: genNumber.Draw(t, "floor"), Epoch: genNumber.Draw(t, "epoch"), Holder: genText.Draw(t, "holder"),
		ExpiresAt: genTime.Draw(t, "expires"), RetryAfterMS: genTime.Draw(t, "retry"), State: genText.Draw(t, "state"),
	}
})

func TestEveryOutcomeDecodesToWhatWasEncoded(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var d agent.Decided
		if rapid.Bool().Draw(t, "refused") {
			refusal := genRefusal.Draw(t, "refusal")
			d.Err = &refusal
		} else {
			d.Result = agent.Result{
				Index: genNumber.Draw(t, "index"), Time: genTime.Draw(t, "time"), Results: rapid.SliceOfN(genResult, 0, 4).Draw(t, "results"),
			}
		}
		raw := command.EncodeOutcome(d)
		got, err := command.DecodeOutcome(raw)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, got, equal...); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

func FuzzDecodeCommit(f *testing.F) {
	for _, op := range append(append(commandtest.SessionSeeds(), commandtest.ManagerSeeds()...),
		&agent.PutValue{Key: "k", Bytes: []byte("v")}, &agent.AppendThread{Thread: "t", Entries: []agent.Draft{{Payload: agent.JSON(`{}`)}}},
		&agent.PutCheckpoint{Key: "k", State: agent.JSON(`{}`), Thread: &agent.Pointer{Thread: "t"}}, &agent.DeleteScope{},
		&agent.TakeClaim{Claim: "c", Holder: "h", TTL: 1e9}, &agent.RenewClaim{Claim: "c", Holder: "h", Epoch: 65537, TTL: 1e9},
		&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 65537, To: "i", TTL: 1e9},
	) {
		raw, err := command.EncodeCommit(&agent.Commit{Scope: "s", Fence: &agent.Fence{Claim: "c", Epoch: 65537}, Ops: []agent.Op{op}}, 7)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		c, notAfter, err := command.DecodeCommit(raw)
		if err != nil {
			return
		}
		again, err := command.EncodeCommit(&c, notAfter)
		if err != nil {
			return // no encoder writes heads and durations that are out of range
		}
		back, _, err := command.DecodeCommit(again)
		if err != nil {
			t.Fatalf("decoded, encoded, not decoded again: %v", err)
		}
		if c.Scope == "" {
			c.Scope = agent.DefaultScope
		}
		if diff := cmp.Diff(c, back, equal...); diff != "" && !overflows(c) {
			t.Fatalf("(-first +second)\n%s", diff)
		}
	})
}

// overflows reports whether a ttl or seal is too long for a time.Duration.
func overflows(c agent.Commit) bool {
	for _, op := range c.Ops {
		if sessionOverflows(op) {
			return true
		}
		var d time.Duration
		switch o := op.(type) {
		case *agent.PutValue:
			d = o.TTL
		case *agent.DeleteValue:
			d = o.Seal
		case *agent.PutCheckpoint:
			d = o.TTL
		case *agent.DeleteCheckpoint:
			d = o.Seal
		case *agent.DeleteThread:
			d = o.Seal
		case *agent.TakeClaim:
			d = o.TTL
		case *agent.RenewClaim:
			d = o.TTL
		case *agent.ReleaseClaim:
			d = o.TTL
		}
		if d < 0 || d > agent.TTLMax {
			return true
		}
	}
	return false
}
