package grpc

import (
	"context"

	apipb "dormouse/proto/api"
)

type reviews struct {
	apipb.UnimplementedReviewsServer
	*front
}

func (s *reviews) Decide(ctx context.Context, req *apipb.DecideReviewRequest) (*apipb.ReviewResponse, error) {
	res, err := s.do(ctx, req.Context, &apipb.Op{Op: &apipb.Op_DecideReview{DecideReview: req.Decide}})
	if err != nil {
		return nil, err
	}
	review, err := found(res.Results[0].GetReview(), nil)
	return &apipb.ReviewResponse{Index: res.Index, Review: review}, err
}

func (s *reviews) Get(ctx context.Context, req *apipb.GetReviewRequest) (*apipb.Review, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_GetReview{GetReview: req.Get}})
	return found(a.GetReview(), err)
}

func (s *reviews) List(ctx context.Context, req *apipb.ListReviewsRequest) (*apipb.ReviewList, error) {
	a, err := s.ask(ctx, req.View, &apipb.Read{Read: &apipb.Read_ListReviews{ListReviews: req.List}})
	return found(a.GetReviews(), err)
}
