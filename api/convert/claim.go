package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func claimListToProto(l *agent.ClaimList) *apipb.ClaimList {
	out := &apipb.ClaimList{Items: make([]*oppb.Claim, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = ops.ClaimToProto(&l.Items[i])
	}
	return out
}

func claimListFromProto(l *apipb.ClaimList) (agent.Found, error) {
	out := &agent.ClaimList{Items: make([]agent.Claim, len(l.GetItems())), Next: l.GetNext()}
	for i, c := range l.GetItems() {
		claim, err := ops.ClaimFromProto(c)
		if err != nil {
			return nil, err
		}
		out.Items[i] = *claim
	}
	return out, nil
}
