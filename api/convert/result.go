package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

// ResultToProto converts the result of a commit.
func ResultToProto(r *agent.Result) *apipb.CommitResponse {
	out := &apipb.CommitResponse{Index: r.Index, TimeMs: r.Time}
	if len(r.Results) == 0 {
		return out
	}
	slab := make([]oppb.OpResult, len(r.Results))
	out.Results = make([]*oppb.OpResult, len(r.Results))
	for i, res := range r.Results {
		ops.ResultToProto(&slab[i], res)
		out.Results[i] = &slab[i]
	}
	return out
}

// ResultFromProto converts the result of a commit. An error means that the answer is
// invalid; the commit was applied all the same.
func ResultFromProto(r *apipb.CommitResponse) (agent.Result, error) {
	if r == nil {
		return agent.Result{}, agent.Errorf(agent.CodeInternal, "the answer has no result")
	}
	out := agent.Result{Index: r.Index, Time: r.TimeMs}
	if len(r.Results) == 0 {
		return out, nil
	}
	out.Results = make([]agent.OpResult, len(r.Results))
	for i, res := range r.Results {
		converted, err := ops.ResultFromProto(res)
		if err != nil {
			return agent.Result{}, atOp(err, i)
		}
		out.Results[i] = converted
	}
	return out, nil
}
