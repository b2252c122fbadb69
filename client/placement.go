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
	err := c.callCluster(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.Placement(ctx, convert.PlacementQueryToProto(q))
		found = convert.PlacementFromProto(res)
		return err
	})
	return found, err
}

// PinPartition pins a partition to a member, or removes its pin; see layout.Operator.
// It is retried only if the change was not made.
func (c *Client) PinPartition(ctx context.Context, partition int, node string) error {
	if partition < 0 || partition >= layout.Partitions {
		return layout.InvalidPartition(partition)
	}
	return c.callCluster(ctx, true, func(ctx context.Context, api apipb.ClusterClient) error {
		_, err := api.PinPartition(ctx, &apipb.PinPartitionRequest{Partition: uint32(partition), Node: node})
		return err
	})
}
