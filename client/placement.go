package client

import (
	"context"

	"dormouse/agent/layout"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// Placement returns the owners of partitions, as one node sees them; see
// layout.Operator.
func (c *Client) Placement(ctx context.Context, q layout.PlacementQuery) (layout.Placement, error) {
	var found layout.Placement
	err := c.persist(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.Placement(ctx, convert.PlacementQueryToProto(q))
		found = convert.PlacementFromProto(res)
		return err
	})
	return found, err
}
