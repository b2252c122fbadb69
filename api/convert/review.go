package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	oppb "dormouse/proto/op"
)

func reviewsFromProto(reviews []*oppb.Review) []agent.Review {
	var out []agent.Review
	for _, r := range reviews {
		out = append(out, *ops.ReviewFromProto(r))
	}
	return out
}
