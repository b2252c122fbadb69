package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

// Status returns the status of the cluster, as one node sees it; see layout.Operator.
func (c *Client) Status(ctx context.Context) (layout.ClusterStatus, error) {
	var status layout.ClusterStatus
	err := c.callCluster(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.Status(ctx, &apipb.StatusRequest{})
		status = convert.StatusFromProto(res)
		return err
	})
	return status, err
}

// Change changes a member; see layout.Operator. It is retried only if the change
// was not made.
func (c *Client) Change(ctx context.Context, change layout.Change, node string) (string, error) {
	leader := ""
	err := c.callCluster(ctx, true, func(ctx context.Context, api apipb.ClusterClient) error {
		calls := map[layout.Change]func() (*apipb.NodeResponse, error){
			layout.ChangeLeave:    func() (*apipb.NodeResponse, error) { return api.Leave(ctx, &apipb.NodeRequest{Node: node}) },
			layout.ChangePromote:  func() (*apipb.NodeResponse, error) { return api.Promote(ctx, &apipb.NodeRequest{Node: node}) },
			layout.ChangeDemote:   func() (*apipb.NodeResponse, error) { return api.Demote(ctx, &apipb.NodeRequest{Node: node}) },
			layout.ChangeDrain:    func() (*apipb.NodeResponse, error) { return api.Drain(ctx, &apipb.NodeRequest{Node: node}) },
			layout.ChangeResume:   func() (*apipb.NodeResponse, error) { return api.Resume(ctx, &apipb.NodeRequest{Node: node}) },
			layout.ChangeTransfer: func() (*apipb.NodeResponse, error) { return api.Transfer(ctx, &apipb.NodeRequest{Node: node}) },
		}
		call := calls[change]
		if call == nil {
			return agent.Invalid("change", "there is no change %q", change)
		}
		res, err := call()
		leader = res.GetLeader()
		return err
	})
	return leader, err
}

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

// JoinToken returns a join token; see layout.Operator.
func (c *Client) JoinToken(ctx context.Context, ttl time.Duration) (layout.JoinToken, error) {
	var token layout.JoinToken
	err := c.callCluster(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.JoinToken(ctx, &apipb.JoinTokenRequest{TtlMs: ops.Millis(ttl)})
		token = layout.JoinToken{Secret: res.GetSecret(), ExpiresAt: res.GetExpiresAt()}
		return err
	})
	return token, err
}

// Backup writes a backup to w; see layout.Operator. It is not retried once a part was
// written: discard the output after an error.
func (c *Client) Backup(ctx context.Context, w io.Writer) error {
	used, err := c.waitForNode(ctx)
	if err != nil {
		return err
	}
	defer used.release()
	open := func(ctx context.Context, api apipb.ClusterClient) (grpc.ServerStreamingClient[apipb.BackupChunk], error) {
		return api.Backup(ctx, &apipb.BackupRequest{})
	}
	return receiveFrom(ctx, used.ClientConn, open, func(chunk *apipb.BackupChunk) error {
		if _, err := w.Write(chunk.Data); err != nil {
			return fmt.Errorf("write the backup: %w", err)
		}
		return nil
	})
}

// Backups returns what the destination of the backups holds; see layout.BackupTaker.
func (c *Client) Backups(ctx context.Context) (layout.Backups, error) {
	var all layout.Backups
	err := c.callCluster(ctx, false, func(ctx context.Context, api apipb.ClusterClient) error {
		res, err := api.Backups(ctx, &apipb.BackupsRequest{})
		all = convert.BackupsFromProto(res)
		return err
	})
	return all, err
}

// TakeBackup takes a backup now; see layout.BackupTaker. It makes one attempt, at one node. Once the node
// was reached, it has no timeout but that of ctx. The backup goes on if the connection breaks: the error is
// unknown then.
func (c *Client) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	used, err := c.waitForNode(ctx)
	if err != nil {
		return layout.BackupInfo{}, err
	}
	defer used.release()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var taken layout.BackupInfo
	stream, err := apipb.NewClusterClient(used).TakeBackup(ctx, &apipb.TakeBackupRequest{})
	if err == nil {
		taken, err = convert.TakeBackup(stream.Recv, progress)
	}
	if err != nil {
		return layout.BackupInfo{}, errorOf(err, true)
	}
	return taken, nil
}

// receiveFrom opens a stream from a node and gives each message to receive.
func receiveFrom[M any](
	ctx context.Context, conn *grpc.ClientConn, open func(context.Context, apipb.ClusterClient) (grpc.ServerStreamingClient[M], error), receive func(*M) error,
) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := open(ctx, apipb.NewClusterClient(conn))
	if err != nil {
		return errorOf(err, false)
	}
	for {
		message, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return errorOf(err, false)
		}
		if err := receive(message); err != nil {
			return err
		}
	}
}

// callCluster is callWithRetry for calls on the cluster. Changes are retried only if they were not
// made.
func (c *Client) callCluster(ctx context.Context, change bool, call func(context.Context, apipb.ClusterClient) error) error {
	kind := reading
	if change {
		kind = onceOnly
	}
	_, err := callWithRetry(ctx, c, kind, nil, func(ctx context.Context, conn *grpc.ClientConn) (struct{}, error) {
		err := call(ctx, apipb.NewClusterClient(conn))
		if _, ours := err.(*agent.Error); err != nil && !ours { //nolint:errorlint // our own, not wrapped
			err = errorOf(err, change)
		}
		return struct{}{}, err
	})
	return err
}
