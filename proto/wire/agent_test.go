package wire_test

import (
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/proto/wire"
)

func init() {
	ops = append(ops,
		func(t *rapid.T) agent.Op { return make1[agent.ForkAgent](t) },
		func(t *rapid.T) agent.Op {
			o := make1[agent.EraseAgent](t)
			o.Seal = millis(t)
			return o
		},
		func(t *rapid.T) agent.Op {
			o := make1[agent.SetTTL](t)
			o.TTL = millis(t)
			return o
		},
	)
}

func TestForksAndErasuresOfAgentsSurviveTheWire(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		forked := make1[agent.ForkedAgent](t)
		forked.Checkpoint.Thread = pointer(t)
		r := agent.Result{Results: []agent.OpResult{forked, make1[agent.Erasure](t)}}
		got, err := wire.ResultFromProto(over(t, wire.ResultToProto(&r), &apipb.CommitResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, r, got)

		reads := agent.Reads{Reads: []agent.Read{make1[agent.GetErasure](t)}}
		asked, err := wire.ReadsFromProto(over(t, wire.ReadsToProto(&reads), &apipb.ReadRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, reads, asked)

		answers := agent.Answers{Answers: []agent.Answer{{Found: make1[agent.Erasure](t)}}}
		told, err := wire.AnswersFromProto(over(t, wire.AnswersToProto(&answers), &apipb.ReadResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, answers, told)
	})
}

func TestAnswersOnAgentsWithoutContentsAreRefused(t *testing.T) {
	for name, r := range map[string]*apipb.OpResult{
		"no fork":               {Result: &apipb.OpResult_ForkedAgent{}},
		"a fork without a body": {Result: &apipb.OpResult_ForkedAgent{ForkedAgent: &apipb.ForkedAgent{}}},
		"no erasure":            {Result: &apipb.OpResult_Erasure{}},
		"a short hash":          {Result: &apipb.OpResult_Erasure{Erasure: &apipb.Erasure{Hash: []byte("short")}}},
	} {
		if _, err := wire.ResultFromProto(&apipb.CommitResponse{Results: []*apipb.OpResult{r}}); err == nil {
			t.Errorf("%s: understood", name)
		}
	}
	for name, op := range map[string]*apipb.Op{
		"fork":  {Op: &apipb.Op_ForkAgent{}},
		"erase": {Op: &apipb.Op_EraseAgent{}},
		"ttl":   {Op: &apipb.Op_SetTtl{}},
	} {
		if _, err := wire.CommitFromProto(&apipb.CommitRequest{Ops: []*apipb.Op{op}}); err == nil {
			t.Errorf("%s: an op without a body was taken", name)
		}
	}
}
