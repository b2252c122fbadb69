package convert

import (
	"dormouse/agent"
	"dormouse/api/ops"
	oppb "dormouse/proto/op"
)

func reviewsToProto(reviews []agent.Review) []*oppb.Review {
	out := make([]*oppb.Review, len(reviews))
	for i := range reviews {
		out[i] = ops.ReviewToProto(&reviews[i])
	}
	return out
}

func reviewsFromProto(reviews []*oppb.Review) []agent.Review {
	var out []agent.Review
	for _, r := range reviews {
		out = append(out, *ops.ReviewFromProto(r))
	}
	return out
}
