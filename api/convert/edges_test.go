package convert_test

import (
	"errors"
	"math"
	"testing"
	"time"

	"google.golang.org/protobuf/proto"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func TestWhatHasNoDomainValueIsRefusedWithItsOp(t *testing.T) {
	fine := &oppb.Op{Op: &oppb.Op_DeleteThread{DeleteThread: &oppb.DeleteThread{Thread: "t"}}}
	for name, bad := range map[string]*oppb.Op{
		"nothing":           nil,
		"no kind":           {},
		"a kind, no body":   {Op: &oppb.Op_AppendThread{}},
		"a patch, no body":  {Op: &oppb.Op_PatchCheckpoint{}},
		"endless ttl":       {Op: &oppb.Op_PutValue{PutValue: &oppb.PutValue{Key: "k", TtlMs: math.MaxUint64}}},
		"take, no body":     {Op: &oppb.Op_TakeClaim{}},
		"renew, no body":    {Op: &oppb.Op_RenewClaim{}},
		"release, no body":  {Op: &oppb.Op_ReleaseClaim{}},
		"endless claim":     {Op: &oppb.Op_TakeClaim{TakeClaim: &oppb.TakeClaim{Claim: "c", TtlMs: math.MaxUint64}}},
		"endless seal":      {Op: &oppb.Op_DeleteThread{DeleteThread: &oppb.DeleteThread{SealMs: 1 << 60}}},
		"pointer to no id":  {Op: &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{Thread: &oppb.Pointer{Rev: 1}}}},
		"pointer head size": {Op: &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{Thread: &oppb.Pointer{Thread: "t", Head: "ab"}}}},
		"missing entry":     {Op: &oppb.Op_AppendThread{AppendThread: &oppb.AppendThread{Entries: []*oppb.Draft{nil}}}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := convert.CommitFromProto(&apipb.CommitRequest{Ops: []*oppb.Op{fine, bad}})
			var e *agent.Error
			if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Op != 1 {
				t.Fatalf("got %+v, want invalid at op 1", err)
			}
		})
	}
	_, err := convert.ReadsFromProto(&apipb.ReadRequest{Reads: []*apipb.Read{{}}})
	var e *agent.Error
	if !errors.As(err, &e) || e.Code != agent.CodeInvalid || e.Op != 0 {
		t.Fatalf("a read without a kind: %+v", err)
	}
}

func TestAnUnreadableAnswerIsAnError(t *testing.T) {
	if _, err := convert.ResultFromProto(&apipb.CommitResponse{Results: []*oppb.OpResult{{}}}); err == nil {
		t.Error("a result without a kind passed")
	}
	for name, a := range map[string]*apipb.Answer{
		"nothing":          {},
		"thaw of nothing":  {Answer: &apipb.Answer_Thawed{Thawed: &apipb.Thawed{}}},
		"pages of nothing": {Answer: &apipb.Answer_Entries{Entries: &apipb.Entries{}}},
		"short head":       {Answer: &apipb.Answer_Thread{Thread: &oppb.Thread{Head: []byte{1}}}},
	} {
		if _, err := convert.AnswersFromProto(&apipb.ReadResponse{Answers: []*apipb.Answer{a}}); err == nil {
			t.Errorf("%s passed", name)
		}
	}
	if _, err := convert.EventFromProto(&apipb.WatchEvent{}); err == nil {
		t.Error("an event without a kind passed")
	}
}

// Absent, empty and some bytes are three different conditions.
func TestExpectedBytesKeepAbsentAndEmptyApart(t *testing.T) {
	empty, absent, some := []byte{}, []byte(nil), []byte("x")
	for name, want := range map[string]*[]byte{"none": nil, "absent": &absent, "empty": &empty, "some": &some} {
		c := agent.Commit{Ops: []agent.Op{&agent.PutValue{Key: "k", IfBytes: want}}}
		b, err := proto.Marshal(convert.CommitToProto(&c))
		if err != nil {
			t.Fatal(err)
		}
		m := &apipb.CommitRequest{}
		if err := proto.Unmarshal(b, m); err != nil {
			t.Fatal(err)
		}
		back, err := convert.CommitFromProto(m)
		if err != nil {
			t.Fatal(err)
		}
		got := back.Ops[0].(*agent.PutValue).IfBytes
		if (got == nil) != (want == nil) || got != nil && ((*got == nil) != (*want == nil) || string(*got) != string(*want)) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// A TTL of 0 means that something never expires, so a short one must not round to
// 0, and a negative one must not become 0.
func TestShortAndNegativeDurationsNeverMeanForEver(t *testing.T) {
	for d, want := range map[time.Duration]time.Duration{
		0: 0, 1: time.Millisecond, time.Millisecond: time.Millisecond, time.Millisecond + 1: 2 * time.Millisecond,
	} {
		c, err := convert.CommitFromProto(convert.CommitToProto(&agent.Commit{Ops: []agent.Op{&agent.PutValue{TTL: d}}}))
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Ops[0].(*agent.PutValue).TTL; got != want {
			t.Errorf("%v became %v", d, got)
		}
	}
	_, err := convert.CommitFromProto(convert.CommitToProto(&agent.Commit{Ops: []agent.Op{&agent.PutValue{TTL: -1}}}))
	if !errors.Is(err, agent.ErrInvalid) {
		t.Errorf("a negative ttl: %v", err)
	}
}

func BenchmarkCommitThereAndBack(b *testing.B) {
	rev := uint64(7)
	c := &agent.Commit{
		Scope: "s", Request: agent.Request{Client: "c", Seq: 1, Low: 1},
		Ops: []agent.Op{&agent.AppendThread{Thread: "t", ExpectedRev: &rev, Entries: []agent.Draft{{Kind: "message", Payload: agent.JSON(`{"a":1}`)}}}},
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := convert.CommitFromProto(convert.CommitToProto(c)); err != nil {
			b.Fatal(err)
		}
	}
}
