package convert_test

import (
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
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
		got, err := convert.ResultFromProto(over(t, convert.ResultToProto(&r), &apipb.CommitResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, r, got)

		reads := agent.Reads{Reads: []agent.Read{make1[agent.GetErasure](t)}}
		asked, err := convert.ReadsFromProto(over(t, convert.ReadsToProto(&reads), &apipb.ReadRequest{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, reads, asked)

		answers := agent.Answers{Answers: []agent.Answer{{Found: make1[agent.Erasure](t)}}}
		told, err := convert.AnswersFromProto(over(t, convert.AnswersToProto(&answers), &apipb.ReadResponse{}))
		if err != nil {
			t.Fatal(err)
		}
		same(t, answers, told)
	})
}

func TestAnswersOnAgentsWithoutContentsAreRefused(t *testing.T) {
	for name, r := range map[string]*oppb.OpResult{
		"no fork":               {Result: &oppb.OpResult_ForkedAgent{}},
		"a fork without a body": {Result: &oppb.OpResult_ForkedAgent{ForkedAgent: &oppb.ForkedAgent{}}},
		"no erasure":            {Result: &oppb.OpResult_Erasure{}},
		"a short hash":          {Result: &oppb.OpResult_Erasure{Erasure: &oppb.Erasure{Hash: []byte("short")}}},
	} {
		if _, err := convert.ResultFromProto(&apipb.CommitResponse{Results: []*oppb.OpResult{r}}); err == nil {
			t.Errorf("%s: understood", name)
		}
	}
	for name, op := range map[string]*oppb.Op{
		"fork":  {Op: &oppb.Op_ForkAgent{}},
		"erase": {Op: &oppb.Op_EraseAgent{}},
		"ttl":   {Op: &oppb.Op_SetTtl{}},
	} {
		if _, err := convert.CommitFromProto(&apipb.CommitRequest{Ops: []*oppb.Op{op}}); err == nil {
			t.Errorf("%s: an op without a body was taken", name)
		}
	}
}
