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
		func(t *rapid.T) agent.Op { return make1[agent.DeletePrefix](t) },
		func(t *rapid.T) agent.Op { return make1[agent.IndexMetadata](t) },
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
	results = append(results,
		func(t *rapid.T) agent.OpResult { return make1[agent.Erasure](t) },
		func(t *rapid.T) agent.OpResult {
			f := make1[agent.ForkedAgent](t)
			f.Checkpoint.Thread = pointer(t)
			return f
		},
	)
	reads = append(reads, func(t *rapid.T) agent.Read { return make1[agent.GetErasure](t) })
	found = append(found, func(t *rapid.T) agent.Found { return make1[agent.Erasure](t) })
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
