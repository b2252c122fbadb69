package grpc

import (
	"bufio"
	"bytes"
	"context"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	"dormouse/api/ops"
	apipb "dormouse/proto/api"
)

type cluster struct {
	apipb.UnimplementedClusterServer
	*api
}

func (s *cluster) Status(ctx context.Context, _ *apipb.StatusRequest) (*apipb.ClusterStatus, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	status, err := s.operator.Status(ctx)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return convert.StatusToProto(&status), nil
}

func (s *cluster) Leave(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangeLeave, req)
}

func (s *cluster) Transfer(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangeTransfer, req)
}

func (s *cluster) Promote(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangePromote, req)
}

func (s *cluster) Demote(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangeDemote, req)
}

func (s *cluster) Drain(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangeDrain, req)
}

func (s *cluster) Resume(ctx context.Context, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	return s.change(ctx, layout.ChangeResume, req)
}

func (s *cluster) PinPartition(ctx context.Context, req *apipb.PinPartitionRequest) (*apipb.PinPartitionResponse, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	if err := s.operator.PinPartition(ctx, int(req.Partition), req.Node); err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	return &apipb.PinPartitionResponse{}, nil
}

func (s *cluster) change(ctx context.Context, change layout.Change, req *apipb.NodeRequest) (*apipb.NodeResponse, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	leader, err := s.operator.Change(ctx, change, req.Node)
	if err != nil {
		return nil, statusOf(errorOf(err, true))
	}
	return &apipb.NodeResponse{Leader: leader}, nil
}

func (s *cluster) JoinToken(ctx context.Context, req *apipb.JoinTokenRequest) (*apipb.JoinTokenResponse, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	ttl, err := ops.Duration("ttl_ms", req.TtlMs)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	token, err := s.operator.JoinToken(ctx, ttl)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return &apipb.JoinTokenResponse{Secret: token.Secret, ExpiresAt: token.ExpiresAt}, nil
}

// backupChunkBytes is the size of one chunk, below every message limit.
const backupChunkBytes = 256 << 10

// Backup has no deadline: its duration depends on the size of the store.
func (s *cluster) Backup(_ *apipb.BackupRequest, stream apipb.Cluster_BackupServer) error {
	w := bufio.NewWriterSize(chunks{stream}, backupChunkBytes)
	err := s.operator.Backup(stream.Context(), w)
	if err == nil {
		err = w.Flush()
	}
	if err != nil {
		return statusOf(errorOf(err, false))
	}
	return nil
}

// chunks writes a backup as messages.
type chunks struct{ stream apipb.Cluster_BackupServer }

func (c chunks) Write(p []byte) (int, error) {
	sent := 0
	for sent < len(p) {
		n := min(len(p)-sent, backupChunkBytes)
		// gRPC may read a message after Send, and the writer's buffer is reused.
		if err := c.stream.Send(&apipb.BackupChunk{Data: bytes.Clone(p[sent : sent+n])}); err != nil {
			return sent, err
		}
		sent += n
	}
	return sent, nil
}

// Backups implements apipb.ClusterServer.
func (s *cluster) Backups(ctx context.Context, _ *apipb.BackupsRequest) (*apipb.BackupsResponse, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	all, err := s.operator.Backups(ctx)
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return convert.BackupsToProto(&all), nil
}

// TakeBackup has no deadline: its duration depends on the size of the store.
func (s *cluster) TakeBackup(_ *apipb.TakeBackupRequest, stream apipb.Cluster_TakeBackupServer) error {
	b, err := s.operator.TakeBackup(stream.Context(), func(p layout.BackupProgress) {
		_ = stream.Send(convert.TakeBackupEvent(p)) // the backup goes on without its caller
	})
	if err != nil {
		return statusOf(errorOf(err, true))
	}
	return stream.Send(&apipb.TakeBackupEvent{Backup: convert.BackupToProto(&b)})
}

// ExportScope has no deadline: its duration depends on the size of the scope.
func (s *cluster) ExportScope(req *apipb.ExportScopeRequest, stream apipb.Cluster_ExportScopeServer) error {
	err := s.operator.ExportScope(stream.Context(), req.Scope, func(part agent.ScopePart) error {
		return stream.Send(convert.ScopePartToProto(part))
	})
	if err != nil {
		return statusOf(errorOf(err, false))
	}
	return nil
}

func (s *cluster) Placement(ctx context.Context, req *apipb.PlacementRequest) (*apipb.PlacementReport, error) {
	ctx, cancel := s.bounded(ctx)
	defer cancel()
	found, err := s.operator.Placement(ctx, convert.PlacementQueryFromProto(req))
	if err != nil {
		return nil, statusOf(errorOf(err, false))
	}
	return convert.PlacementToProto(&found), nil
}
