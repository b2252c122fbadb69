package fsm_test

import (
	"math"
	"strings"
	"testing"

	"github.com/hashicorp/raft"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm"
	"dormouse/fsm/command/commandtest"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
	"dormouse/storage"
)

// applyAnything applies entries of raw commits to a new machine. It returns the state hash, and
// whether the machine stopped.
func applyAnything(tb testing.TB, entries [][][]byte) (hash string, stopped bool) {
	tb.Helper()
	r := openSubject(tb, fsm.Options{Dir: "state", FS: storage.MemFS(), Fatal: func(error) { stopped = true }})
	defer r.close()
	for i, commits := range entries {
		entry := r.machine.Pack(0, 0, uint64(i)*1e12, int64(i)*1e12, commits)
		decided, ok := r.machine.Apply(&raft.Log{Type: raft.LogCommand, Index: uint64(i) + 1, Term: uint64(i)/2 + 1, Data: entry}).([]agent.Decided)
		if !ok || !stopped && len(decided) != len(commits) {
			tb.Fatalf("entry %d: %d commits, %d decided", i, len(commits), len(decided))
		}
		for _, d := range decided {
			if (d.Err == nil) == (d.Result.Index == 0) {
				tb.Fatalf("neither a result nor a refusal: %+v", d)
			}
		}
	}
	return r.hash(), stopped
}

// For any content of an entry, apply decides it or stops the replica. It never panics: that would
// stop all replicas at once, and again at each start.
func FuzzApply(f *testing.F) {
	r := newSubject(f)
	seeds := []agent.Op{
		appendTo("t", `{"n":1}`), &agent.PutValue{Key: "v", Bytes: []byte("x"), TTL: 1e9}, pointing("c", "t", 1),
		&agent.PatchCheckpoint{Key: "c", Patch: agent.JSON(`{"a":{"b":null}}`)}, &agent.ForkThread{Thread: "t", NewThread: "u"},
		&agent.CompactThread{Thread: "t", BeforeSeq: 1}, &agent.DeleteThread{Thread: "t", Seal: 1e9},
		&agent.HibernateThread{Thread: "t", Rev: 1, Entries: drafts(`{}`)}, &agent.PutScope{Policy: agent.Policy{KeysMax: 1}},
		&agent.DeleteValue{Key: "v"}, &agent.DeleteCheckpoint{Key: "c"},
		&agent.WriteMemory{Agent: "a", ID: "m", Session: "s", Content: "x", Tags: []string{"t"}, Embedding: []float32{1}, TTL: 1e9},
		&agent.DeleteMemory{Agent: "a", ID: "m"}, &agent.DeletePrefix{Kind: agent.ChangedValue, Prefix: "v"},
		&agent.TakeClaim{Claim: "c", Holder: "h"}, &agent.RenewClaim{Claim: "c", Holder: "h", Epoch: 1<<16 + 1},
		&agent.ReleaseClaim{Claim: "c", Holder: "h", Epoch: 1<<16 + 1, To: "i"},
	}
	for _, op := range commandtest.ManagerSeeds() {
		f.Add(r.encode(agent.Commit{Ops: commandtest.ManagerSeeds()[:1]})[0], r.encode(agent.Commit{Ops: []agent.Op{op}})[0])
	}
	for _, op := range commandtest.SessionSeeds() {
		f.Add(r.encode(agent.Commit{Ops: commandtest.SessionSeeds()[:2]})[0], r.encode(agent.Commit{Ops: []agent.Op{op}})[0])
	}
	for i, op := range seeds {
		f.Add(r.encode(agent.Commit{Ops: []agent.Op{op}})[0], r.encode(requested(uint64(i+1), 1, seeds[0], op))[0])
	}
	f.Add(r.encode(agent.Commit{Ops: []agent.Op{&agent.DeleteScope{}}})[0], r.machine.EncodeFeatureLevel(1))
	f.Add(r.encode(agent.Commit{Ops: []agent.Op{&agent.TakeClaim{Claim: "c", Holder: "h"}}})[0],
		r.encode(agent.Commit{Fence: &agent.Fence{Claim: "c", Epoch: 1<<16 + 1}, Ops: []agent.Op{seeds[0]}})[0])
	f.Add(r.machine.EncodePutMember(layout.Member{ID: "n", Incarnation: "i"}), r.machine.EncodeRemoveMember("n", "i"))
	f.Fuzz(func(t *testing.T, one, other []byte) {
		applyAnything(t, [][][]byte{{one, other}, {other, one, one}, {}})
	})
}

// hostile draws unvalidated commits.
type hostile struct{ *rapid.T }

func (h hostile) id() string {
	return rapid.SampledFrom([]string{"a", "b", "a", "b", "", ".", "a\x00b", "\xff"[:0], string(make([]byte, 513))}).Draw(h.T, "id")
}

func (h hostile) number() uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 2, 1 << 16, 1<<16 + 1, 1 << 63, 1<<64 - 1}).Draw(h.T, "number")
}

func (h hostile) maybe() *uint64 {
	if rapid.Bool().Draw(h.T, "none") {
		return nil
	}
	return ptr(h.number())
}

func (h hostile) bytes() []byte {
	return []byte(rapid.SampledFrom([]string{"", "{}", `{"a":1}`, "null", "{", "\xff", "[1]"}).Draw(h.T, "bytes"))
}

func (h hostile) head() string {
	return rapid.SampledFrom([]string{"", "00", strings.Repeat("0", 64), strings.Repeat("A", 64), strings.Repeat("z", 64), strings.Repeat("0", 66)}).Draw(h.T, "head")
}

func (h hostile) drafts() (out []*oppb.Draft) {
	for range rapid.IntRange(0, 3).Draw(h.T, "drafts") {
		out = append(out, &oppb.Draft{
			Id:   rapid.SampledFrom([]string{"", "x", "entry_1ekh_0", "entry_1ekh_1", "entry_0_0"}).Draw(h.T, "id"),
			Kind: "k", Payload: h.bytes(), Refs: h.bytes(),
		})
	}
	return out
}

func (h hostile) expect() *oppb.ExpectBytes {
	return rapid.SampledFrom([]*oppb.ExpectBytes{nil, {Absent: true}, {}, {Bytes: h.bytes()}}).Draw(h.T, "expect")
}

func (h hostile) clusterOp() *logpb.ClusterOp {
	if rapid.Bool().Draw(h.T, "put member") {
		return &logpb.ClusterOp{Op: &logpb.ClusterOp_PutMember{PutMember: &logpb.PutMember{Member: &logpb.Member{Id: h.id(), Incarnation: h.id()}}}}
	}
	return &logpb.ClusterOp{Op: &logpb.ClusterOp_RemoveMember{RemoveMember: &logpb.RemoveMember{Id: h.id(), Incarnation: h.id()}}}
}

func (h hostile) op() *oppb.Op {
	switch rapid.IntRange(0, 27).Draw(h.T, "op") {
	case 0:
		return &oppb.Op{Op: &oppb.Op_PutValue{PutValue: &oppb.PutValue{
			Key: h.id(), Bytes: h.bytes(), TtlMs: h.number(), IfRevision: h.maybe(), IfBytes: h.expect(), IfIncarnation: h.number(),
		}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_DeleteValue{DeleteValue: &oppb.DeleteValue{
			Key: h.id(), IfRevision: h.maybe(), IfBytes: h.expect(), SealMs: h.number(),
		}}}
	case 2:
		return &oppb.Op{Op: &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{
			Key: h.id(), State: h.bytes(), TtlMs: h.number(), IfRevision: h.maybe(),
			Thread: &oppb.Pointer{Thread: h.id(), Rev: h.number(), Head: h.head(), Incarnation: h.number()},
		}}}
	case 3:
		return &oppb.Op{Op: &oppb.Op_PatchCheckpoint{PatchCheckpoint: &oppb.PatchCheckpoint{Key: h.id(), Patch: h.bytes(), IfIncarnation: h.number()}}}
	case 4:
		return &oppb.Op{Op: &oppb.Op_DeleteCheckpoint{DeleteCheckpoint: &oppb.DeleteCheckpoint{Key: h.id(), SealMs: h.number()}}}
	case 5, 6:
		return &oppb.Op{Op: &oppb.Op_AppendThread{AppendThread: &oppb.AppendThread{
			Thread: h.id(), Entries: h.drafts(), ExpectedRev: h.maybe(), ExpectedHead: h.head(), Metadata: h.bytes(),
		}}}
	case 7:
		return &oppb.Op{Op: &oppb.Op_HibernateThread{HibernateThread: &oppb.HibernateThread{
			Thread: h.id(), Rev: h.number(), FromSeq: h.number(), Entries: h.drafts(),
		}}}
	case 8:
		return &oppb.Op{Op: &oppb.Op_DeleteThread{DeleteThread: &oppb.DeleteThread{Thread: h.id(), SealMs: h.number()}}}
	case 9:
		return &oppb.Op{Op: &oppb.Op_CompactThread{CompactThread: &oppb.CompactThread{Thread: h.id(), BeforeSeq: h.number(), Summary: h.bytes()}}}
	case 10:
		return &oppb.Op{Op: &oppb.Op_ForkThread{ForkThread: &oppb.ForkThread{Thread: h.id(), NewThread: h.id(), AtRev: h.maybe()}}}
	case 11:
		return &oppb.Op{Op: &oppb.Op_PutScope{PutScope: &oppb.PutScope{Policy: &oppb.Policy{
			History: h.number(), KeysMax: h.number(), MemoriesMax: h.number(), MemoryBytesMax: h.number(),
		}}}}
	case 12:
		return &oppb.Op{Op: &oppb.Op_DeleteScope{DeleteScope: &oppb.DeleteScope{}}}
	case 13, 14, 15, 16:
		return h.memoryOp()
	case 17, 18, 19, 20:
		return h.sessionOp()
	case 21, 22:
		return h.timerOp()
	case 25:
		return h.agentOp()
	case 26, 27:
		return h.managerOp()
	default:
		return h.claimOp()
	}
}

func (h hostile) memoryOp() *oppb.Op {
	if rapid.IntRange(0, 3).Draw(h.T, "delete") == 0 {
		return &oppb.Op{Op: &oppb.Op_DeleteMemory{DeleteMemory: &oppb.DeleteMemory{
			Agent: h.id(), Id: h.id(), IfRevision: h.maybe(), IfIncarnation: h.number(), SealMs: h.number(),
		}}}
	}
	return &oppb.Op{Op: &oppb.Op_WriteMemory{WriteMemory: &oppb.WriteMemory{
		Agent: h.id(), Id: h.id(), Session: h.id(), Class: "no class", Content: string(h.bytes()[:0]), Data: h.bytes(), Metadata: h.bytes(),
		Embedding:  rapid.SampledFrom([][]float32{nil, nil, {1}, {0}, {1, 2}, {float32(math.NaN())}}).Draw(h.T, "embedding"),
		ObservedAt: (*int64)(nil), ExpiresAt: int64(h.number()), TtlMs: h.number(), IfRevision: h.maybe(), IfIncarnation: h.number(),
	}}}
}

func (h hostile) ttl() uint64 {
	return rapid.SampledFrom([]uint64{0, 1, 999, 1000, 1000, 1000, 24 * 3600e3, 24*3600e3 + 1, 1 << 63, 1<<64 - 1}).Draw(h.T, "ttl")
}

func (h hostile) claimOp() *oppb.Op {
	switch rapid.IntRange(0, 3).Draw(h.T, "claim op") {
	case 0:
		return &oppb.Op{Op: &oppb.Op_RenewClaim{RenewClaim: &oppb.RenewClaim{
			Claim: h.id(), Holder: h.id(), Epoch: h.number(), TtlMs: h.ttl(),
		}}}
	case 1:
		return &oppb.Op{Op: &oppb.Op_ReleaseClaim{ReleaseClaim: &oppb.ReleaseClaim{
			Claim: h.id(), Holder: h.id(), Epoch: h.number(), To: h.id(), TtlMs: h.ttl(),
		}}}
	default:
		return &oppb.Op{Op: &oppb.Op_TakeClaim{TakeClaim: &oppb.TakeClaim{Claim: h.id(), Holder: h.id(), TtlMs: h.ttl()}}}
	}
}

func (h hostile) commit() []byte {
	c := &logpb.Commit{Scope: h.id(), BodyHash: h.number()}
	if rapid.Bool().Draw(h.T, "request") {
		c.Client, c.Seq, c.Low, c.NotAfterTick = h.id(), h.number(), h.number(), h.number()
	}
	if rapid.IntRange(0, 3).Draw(h.T, "fenced") == 0 {
		c.Fence = &logpb.Fence{Claim: h.id(), Epoch: h.number()}
	}
	for range rapid.IntRange(0, 3).Draw(h.T, "ops") {
		c.Ops = append(c.Ops, h.op())
	}
	for range rapid.SampledFrom([]int{0, 0, 0, 0, 1, 2}).Draw(h.T, "cluster ops") {
		c.ClusterOps = append(c.ClusterOps, h.clusterOp())
	}
	raw, err := proto.Marshal(c)
	if err != nil {
		h.Fatal(err)
	}
	return raw
}

func TestWhateverTheDoorLetsThroughIsDecidedAlikeByAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := hostile{rt}
		entries := make([][][]byte, rapid.IntRange(1, 6).Draw(rt, "entries"))
		for i := range entries {
			for range rapid.IntRange(0, 4).Draw(rt, "commits") {
				entries[i] = append(entries[i], h.commit())
			}
		}
		hash, stopped := applyAnything(t, entries)
		if again, stoppedAgain := applyAnything(t, entries); again != hash || stopped != stoppedAgain {
			rt.Fatal("two machines that were fed the same log differ")
		}
		if stopped {
			rt.Fatal("the replica stopped at ops that it knows")
		}
	})
}
