package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
	oppb "dormouse/proto/op"
)

func tokenListToProto(l *agent.TokenList) *apipb.TokenList {
	out := &apipb.TokenList{Items: make([]*oppb.Token, len(l.Items)), Next: l.Next}
	for i := range l.Items {
		out.Items[i] = ops.TokenToProto(&l.Items[i])
	}
	return out
}

func tokenListFromProto(l *apipb.TokenList) *agent.TokenList {
	out := &agent.TokenList{Items: make([]agent.Token, len(l.GetItems())), Next: l.GetNext()}
	for i, t := range l.GetItems() {
		out.Items[i] = *ops.TokenFromProto(t)
	}
	return out
}
