package peer

import (
	"context"

	"google.golang.org/grpc"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/api/convert"
	apipb "dormouse/proto/api"
)

// Backups are the scheduled backups of one node. A node that does not take them refuses the calls
// as unavailable; it never forwards them.
type Backups interface {
	layout.BackupTaker
	BackupStatus(ctx context.Context) (layout.BackupStatus, error)
}

// RegisterBackups serves the calls about backups that other nodes forward.
func RegisterBackups(s *grpc.Server, b Backups) {
	apipb.RegisterClusterServer(s, backupsServer{backups: b})
}

type backupsServer struct {
	apipb.UnimplementedClusterServer
	backups Backups
}

// Backups implements apipb.ClusterServer.
func (s backupsServer) Backups(ctx context.Context, r *apipb.BackupsRequest) (*apipb.BackupsResponse, error) {
	var all layout.Backups
	var err error
	if r.StatusOnly {
		all.Status, err = s.backups.BackupStatus(ctx)
	} else {
		all, err = s.backups.Backups(ctx)
	}
	if err != nil {
		return nil, toStatus(err)
	}
	return convert.BackupsToProto(&all), nil
}

// TakeBackup implements apipb.ClusterServer.
func (s backupsServer) TakeBackup(_ *apipb.TakeBackupRequest, stream apipb.Cluster_TakeBackupServer) error {
	b, err := s.backups.TakeBackup(stream.Context(), func(p layout.BackupProgress) {
		_ = stream.Send(convert.TakeBackupEvent(p)) // the backup goes on without its caller
	})
	if err != nil {
		return toStatus(err)
	}
	return stream.Send(&apipb.TakeBackupEvent{Backup: convert.BackupToProto(&b)})
}

// Backups returns the scheduled backups of the node at addr.
func (p *Pool) Backups(addr string) Backups {
	return backupsAt{apipb.NewClusterClient(connected{pool: p, addr: addr})}
}

type backupsAt struct{ api apipb.ClusterClient }

// Backups implements layout.BackupTaker.
func (b backupsAt) Backups(ctx context.Context) (layout.Backups, error) {
	answer, err := b.api.Backups(ctx, &apipb.BackupsRequest{})
	if err != nil {
		return layout.Backups{}, fromStatus(err)
	}
	return convert.BackupsFromProto(answer), nil
}

// BackupStatus implements Backups.
func (b backupsAt) BackupStatus(ctx context.Context) (layout.BackupStatus, error) {
	answer, err := b.api.Backups(ctx, &apipb.BackupsRequest{StatusOnly: true})
	if err != nil {
		return layout.BackupStatus{}, fromStatus(err)
	}
	return convert.BackupStatusFromProto(answer.Status), nil
}

// TakeBackup implements layout.BackupTaker.
func (b backupsAt) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := b.api.TakeBackup(ctx, &apipb.TakeBackupRequest{})
	if err != nil {
		return layout.BackupInfo{}, fromStatus(err)
	}
	taken, err := convert.TakeBackup(stream.Recv, progress)
	if err == nil {
		return taken, nil
	}
	if refused := refusal(err); refused != nil {
		return layout.BackupInfo{}, refused
	}
	return layout.BackupInfo{}, agent.Errorf(agent.CodeUnknown, "the call broke, and the backup may still be taken: look for it in the list of backups: %v", err)
}
