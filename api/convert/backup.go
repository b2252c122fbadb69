package convert

import (
	"dormouse/agent/layout"
	apipb "dormouse/proto/api"
)

// BackupStatusToProto converts the status of the scheduled backups.
func BackupStatusToProto(s *layout.BackupStatus) *apipb.BackupStatus {
	return &apipb.BackupStatus{
		Url: s.URL, Node: s.Node, Leads: s.Leads, PublicKey: s.PublicKey, Encrypted: s.Encrypted, ShipsLog: s.ShipsLog,
		Next: s.Next, Phase: s.Phase, LastName: s.LastName, LastIndex: s.LastIndex, LastSuccessAt: s.LastSuccessAt,
		LastError: s.LastError, LastErrorAt: s.LastErrorAt, ShippedTo: s.ShippedTo, ShippedTime: s.ShippedTime, Gaps: s.Gaps, LogError: s.LogError,
	}
}

// BackupStatusFromProto converts the status of the scheduled backups.
func BackupStatusFromProto(s *apipb.BackupStatus) layout.BackupStatus {
	return layout.BackupStatus{
		URL: s.GetUrl(), Node: s.GetNode(), Leads: s.GetLeads(), PublicKey: s.GetPublicKey(), Encrypted: s.GetEncrypted(), ShipsLog: s.GetShipsLog(),
		Next: s.GetNext(), Phase: s.GetPhase(), LastName: s.GetLastName(), LastIndex: s.GetLastIndex(), LastSuccessAt: s.GetLastSuccessAt(),
		LastError: s.GetLastError(), LastErrorAt: s.GetLastErrorAt(), ShippedTo: s.GetShippedTo(), ShippedTime: s.GetShippedTime(),
		Gaps: s.GetGaps(), LogError: s.GetLogError(),
	}
}

// BackupToProto converts the description of a backup.
func BackupToProto(b *layout.BackupInfo) *apipb.BackupInfo {
	return &apipb.BackupInfo{
		Name: b.Name, Node: b.Node, Index: b.Index, Term: b.Term, TimeMs: b.Time, StartedAt: b.StartedAt, VerifiedAt: b.VerifiedAt,
		StateBytes: b.StateBytes, Bytes: b.Bytes, Encrypted: b.Encrypted, StateHash: b.StateHash, Key: b.Key,
	}
}

// BackupFromProto converts the description of a backup.
func BackupFromProto(b *apipb.BackupInfo) layout.BackupInfo {
	return layout.BackupInfo{
		Name: b.GetName(), Node: b.GetNode(), Index: b.GetIndex(), Term: b.GetTerm(), Time: b.GetTimeMs(), StartedAt: b.GetStartedAt(),
		VerifiedAt: b.GetVerifiedAt(), StateBytes: b.GetStateBytes(), Bytes: b.GetBytes(), Encrypted: b.GetEncrypted(),
		StateHash: b.GetStateHash(), Key: b.GetKey(),
	}
}

// BackupsToProto converts what the destination of the backups holds.
func BackupsToProto(b *layout.Backups) *apipb.BackupsResponse {
	out := &apipb.BackupsResponse{
		Status: BackupStatusToProto(&b.Status), Segments: uint64(b.Segments), Unfinished: uint64(b.Unfinished), Damages: b.Damages, StoredBytes: b.StoredBytes,
	}
	for i := range b.Backups {
		out.Backups = append(out.Backups, BackupToProto(&b.Backups[i]))
	}
	return out
}

// BackupsFromProto converts what the destination of the backups holds.
func BackupsFromProto(b *apipb.BackupsResponse) layout.Backups {
	out := layout.Backups{
		Status: BackupStatusFromProto(b.GetStatus()), Segments: int(b.GetSegments()), Unfinished: int(b.GetUnfinished()),
		Damages: b.GetDamages(), StoredBytes: b.GetStoredBytes(),
	}
	for _, one := range b.GetBackups() {
		out.Backups = append(out.Backups, BackupFromProto(one))
	}
	return out
}

// TakeBackup receives the events of a backup under way, and returns it.
func TakeBackup(receive func() (*apipb.TakeBackupEvent, error), progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	for {
		event, err := receive()
		if err != nil {
			return layout.BackupInfo{}, err
		}
		if event.Backup != nil {
			return BackupFromProto(event.Backup), nil
		}
		if progress != nil {
			progress(BackupProgress(event))
		}
	}
}

// BackupProgress converts the progress of a backup.
func BackupProgress(e *apipb.TakeBackupEvent) layout.BackupProgress {
	return layout.BackupProgress{Phase: e.Phase, Done: e.Done, Total: e.Total}
}

// TakeBackupEvent converts the progress of a backup.
func TakeBackupEvent(p layout.BackupProgress) *apipb.TakeBackupEvent {
	return &apipb.TakeBackupEvent{Phase: p.Phase, Done: p.Done, Total: p.Total}
}
