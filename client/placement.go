package client

import (
	"context"

	"dormouse/agent"
	apipb "dormouse/proto/api"
	"dormouse/proto/wire"
)

// Placement is who owns what, as some node sees it; see agent.Operator.
func (c *Client) Placement(ctx context.Context, q agent.PlacementQuery) (agent.Placement, error) {
	var found agent.Placement
	err := c.persist(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.Placement(ctx, wire.PlacementQueryToProto(q))
		found = wire.PlacementFromProto(res)
		return err
	})
	return found, err
}
