package convert_test

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"google.golang.org/protobuf/proto"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	opsconv "dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

// over sends a message through its encoding.
func over[M proto.Message](t *rapid.T, in, out M) M {
	t.Helper()
	b, err := proto.Marshal(in)
	if err != nil {
		t.Fatalf("marshal: %v", err)
	}
	if err := proto.Unmarshal(b, out); err != nil {
		t.Fatalf("unmarshal: %v", err)
	}
	return out
}

func same(t *rapid.T, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty(), cmpopts.IgnoreUnexported(agent.Commit{}, agent.Reads{})); d != "" {
		t.Fatalf("changed on the way (-want +got):\n%s", d)
	}
}

func millis(t *rapid.T) time.Duration {
	return time.Duration(rapid.Int64Range(0, 1<<40).Draw(t, "ms")) * time.Millisecond
}

func pointer(t *rapid.T) *agent.Pointer {
	if !rapid.Bool().Draw(t, "pointer") {
		return nil
	}
	p := rapid.Make[agent.Pointer]().Draw(t, "pointer")
	p.Thread = "t" + p.Thread
	p.Head = rapid.SampledFrom([]string{"", strings.Repeat("0a", 32)}).Draw(t, "head")
	return &p
}

// make1 draws a T with arbitrary content.
func make1[T any](t *rapid.T) *T {
	v := rapid.Make[T]().Draw(t, "v")
	return &v
}

var ops = []func(*rapid.T) agent.Op{
	func(t *rapid.T) agent.Op {
		o := make1[agent.PutValue](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.DeleteValue](t)
		o.Seal = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.PutCheckpoint](t)
		o.Thread, o.TTL = pointer(t), millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.PatchCheckpoint](t) },
	func(t *rapid.T) agent.Op {
		o := make1[agent.DeleteCheckpoint](t)
		o.Seal = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.AppendThread](t) },
	func(t *rapid.T) agent.Op { return make1[agent.HibernateThread](t) },
	func(t *rapid.T) agent.Op {
		o := make1[agent.DeleteThread](t)
		o.Seal = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.CompactThread](t) },
	func(t *rapid.T) agent.Op { return make1[agent.ForkThread](t) },
	func(t *rapid.T) agent.Op { return make1[agent.PutScope](t) },
	func(*rapid.T) agent.Op { return &agent.DeleteScope{} },
	func(t *rapid.T) agent.Op { return make1[agent.ImportScope](t) },
	func(t *rapid.T) agent.Op {
		o := make1[agent.TakeClaim](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.RenewClaim](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.ReleaseClaim](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.WriteMemory](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.DeleteMemory](t)
		o.Seal = millis(t)
		return o
	},
}

var managerOps = []func(*rapid.T) agent.Op{
	func(t *rapid.T) agent.Op {
		return &agent.PutManager{Manager: manager(t), IfRevision: make1[agent.PutManager](t).IfRevision}
	},
	func(t *rapid.T) agent.Op { return make1[agent.DeleteManager](t) },
	func(t *rapid.T) agent.Op { return make1[agent.AnswerSignal](t) },
}

func init() { ops = append(ops, managerOps...) }

var timerOps = []func(*rapid.T) agent.Op{
	func(t *rapid.T) agent.Op {
		p := make1[agent.Timer](t)
		return &agent.PutTimer{Timer: agent.Timer{
			Manager: p.Manager, Key: p.Key, ID: p.ID, Cron: p.Cron, TimeZone: p.TimeZone, Missed: p.Missed, CatchUp: p.CatchUp, Type: p.Type,
			Data: p.Data, Next: p.Next,
		}}
	},
	func(t *rapid.T) agent.Op { return make1[agent.DeleteTimer](t) },
	func(t *rapid.T) agent.Op { return make1[agent.PatchCron](t) },
	func(t *rapid.T) agent.Op { return make1[agent.AckTimer](t) },
	func(t *rapid.T) agent.Op { return make1[agent.FailTimer](t) },
}

func init() { ops = append(ops, timerOps...) }

func manager(t *rapid.T) agent.Manager {
	m := *make1[agent.Manager](t)
	m.IdleTimeout, m.SignalTTL, m.AttachTTL = millis(t), millis(t), millis(t)
	m.MailboxMax, m.AwakeMax = rapid.IntRange(0, 1<<31-1).Draw(t, "mailbox"), rapid.IntRange(0, 1<<31-1).Draw(t, "awake")
	return m
}

// spans gives what is a time to live a whole number of milliseconds.
func spans(t *rapid.T, drafts []agent.ReviewDraft) {
	for i := range drafts {
		drafts[i].TTL, drafts[i].EscalateAfter = millis(t), millis(t)
	}
}

var sessionOps = []func(*rapid.T) agent.Op{
	func(t *rapid.T) agent.Op { return make1[agent.PutSession](t) },
	func(t *rapid.T) agent.Op {
		o := make1[agent.ClaimSession](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.ResumeSession](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.RecoverSession](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.CheckpointSession](t)
		o.TTL = millis(t)
		spans(t, o.Reviews)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.CommitSession](t)
		spans(t, o.Reviews)
		return o
	},
	func(t *rapid.T) agent.Op {
		o := make1[agent.RenewSession](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.CancelSession](t) },
	func(t *rapid.T) agent.Op { return make1[agent.ForkSession](t) },
	func(t *rapid.T) agent.Op {
		o := make1[agent.DeleteSession](t)
		o.Seal = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.DecideReview](t) },
}

func init() { ops = append(ops, sessionOps...) }

var tokenOps = []func(*rapid.T) agent.Op{
	func(t *rapid.T) agent.Op {
		o := make1[agent.PutToken](t)
		o.TTL = millis(t)
		return o
	},
	func(t *rapid.T) agent.Op { return make1[agent.RevokeToken](t) },
}

func init() { ops = append(ops, tokenOps...) }

func claim(t *rapid.T) agent.Claim {
	c := *make1[agent.Claim](t)
	c.TTL = millis(t)
	return c
}

func TestEveryCommitSurvivesTheWire(t *testing.T) {
	ofEachKind(t, ops, func(t *rapid.T, kind func(*rapid.T) agent.Op) {
		c := agent.Commit{Scope: rapid.String().Draw(t, "scope")}
		if rapid.Bool().Draw(t, "request") {
			c.Request = *make1[agent.Request](t)
			c.Request.TTL = millis(t)
		}
		if rapid.Bool().Draw(t, "fence") {
			c.Fence = make1[agent.Fence](t)
		}
		for range rapid.IntRange(0, 3).Draw(t, "ops") {
			c.Ops = append(c.Ops, kind(t))
		}
		got, err := convert.CommitFromProto(over(t, convert.CommitToProto(&c), &apipb.CommitRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, c, got)
	})
}

func TestEveryResultSurvivesTheWire(t *testing.T) {
	ofEachKind(t, results, func(t *rapid.T, kind func(*rapid.T) agent.OpResult) {
		r := agent.Result{Index: rapid.Uint64().Draw(t, "index"), Time: rapid.Int64().Draw(t, "time")}
		for range rapid.IntRange(0, 3).Draw(t, "results") {
			r.Results = append(r.Results, kind(t))
		}
		got, err := convert.ResultFromProto(over(t, convert.ResultToProto(&r), &apipb.CommitResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, r, got)
	})
}

func TestEveryReadSurvivesTheWire(t *testing.T) {
	ofEachKind(t, reads, func(t *rapid.T, kind func(*rapid.T) agent.Read) {
		r := agent.Reads{
			Scope: rapid.String().Draw(t, "scope"), Stale: rapid.Bool().Draw(t, "stale"),
			MinIndex: rapid.Uint64().Draw(t, "min"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "reads") {
			r.Reads = append(r.Reads, kind(t))
		}
		got, err := convert.ReadsFromProto(over(t, convert.ReadsToProto(&r), &apipb.ReadRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, r, got)
	})
}

func checkpoint(t *rapid.T) agent.Checkpoint {
	c := rapid.Make[agent.Checkpoint]().Draw(t, "checkpoint")
	c.Thread = pointer(t)
	return c
}

func TestEveryAnswerSurvivesTheWire(t *testing.T) {
	ofEachKind(t, found, func(t *rapid.T, kind func(*rapid.T) agent.Found) {
		a := agent.Answers{
			Index: rapid.Uint64().Draw(t, "index"), AgeMS: rapid.Int64().Draw(t, "age"),
			Node: rapid.String().Draw(t, "node"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "answers") {
			if rapid.Bool().Draw(t, "refused") {
				a.Answers = append(a.Answers, agent.Answer{Err: fault(t)})
				continue
			}
			a.Answers = append(a.Answers, agent.Answer{Found: kind(t)})
		}
		got, err := convert.AnswersFromProto(over(t, convert.AnswersToProto(&a), &apipb.ReadResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, a, got)
	})
}

func fault(t *rapid.T) *agent.Error {
	e := make1[agent.Error](t)
	e.Code = "c" + e.Code
	e.Op = rapid.IntRange(-1, 1024).Draw(t, "op")
	return e
}

func TestEveryErrorSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := fault(t)
		same(t, *e, *opsconv.ErrorFromProto(over(t, opsconv.ErrorToProto(e), &oppb.Error{})))
	})
}

// changed draws changes, some of them with what they wrote.
var changed = rapid.MakeCustom[agent.Changed](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
	reflect.TypeFor[agent.Found](): rapid.Custom(func(t *rapid.T) any {
		return rapid.SampledFrom([]agent.Found{nil, make1[agent.Value](t), make1[agent.Memory](t)}).Draw(t, "body")
	}),
}})

func TestEventsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := agent.Event{Kind: rapid.SampledFrom([]agent.EventKind{agent.EventEntry, agent.EventCompacted, agent.EventDeleted, agent.EventClaim, agent.EventChanges}).Draw(t, "kind")}
		switch e.Kind {
		case agent.EventEntry:
			e.Entry = *make1[agent.Entry](t)
		case agent.EventCompacted:
			e.Floor = rapid.Uint64().Draw(t, "floor")
		case agent.EventDeleted:
		case agent.EventClaim:
			e.Claim = claim(t)
		case agent.EventChanges:
			e.Changes, e.Through = rapid.SliceOfN(changed, 0, 3).Draw(t, "changes"), rapid.Uint64().Draw(t, "through")
		}
		got, err := convert.EventFromProto(over(t, convert.EventToProto(&e), &apipb.WatchEvent{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, e, got)
		w := *make1[agent.Watch](t)
		same(t, w, convert.WatchFromProto(over(t, convert.WatchToProto(w), &apipb.WatchRequest{})))
	})
}

func TestStatusSurvivesTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := *make1[layout.ClusterStatus](t)
		for i := range s.Members {
			s.Members[i].FeatureLevelMax, s.Members[i].Zone, s.Members[i].Weight = 0, "", 0 // stay behind
		}
		same(t, s, convert.StatusFromProto(over(t, convert.StatusToProto(&s), &apipb.ClusterStatus{})))
	})
}
