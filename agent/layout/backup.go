package layout

import "context"

// BackupInfo describes a whole backup at the destination of a cluster's backups.
type BackupInfo struct {
	Name       string
	Node       string // that took it
	Index      uint64 // of the last log entry in it
	Term       uint64
	Time       int64 // of the log, at that entry; Unix milliseconds, as the next ones
	StartedAt  int64
	VerifiedAt int64
	StateBytes int64 // of the state
	Bytes      int64 // as stored
	Encrypted  bool
	StateHash  string // over all rows
	Key        string // the public key that signed it
}

// BackupStatus is the status of the scheduled backups, as the leader knows it.
type BackupStatus struct {
	URL       string // of the destination
	Node      string // that answers
	Leads     bool   // the node takes the backups
	PublicKey string // of the key that signs
	Encrypted bool
	ShipsLog  bool

	Next          int64  // when the next backup is due; Unix milliseconds; 0 if unknown
	Phase         string // of the backup under way; "" if there is none
	LastName      string // of the newest whole backup; "" if there is none
	LastIndex     uint64
	LastSuccessAt int64
	LastError     string // "" if there was none since this process leads
	LastErrorAt   int64  // 0 if LastError is a warning about the destination, and no failure

	ShippedTo   uint64 // the last log entry that was shipped
	ShippedTime int64  // of the log, at that entry
	Gaps        uint64 // times that entries were lost for the shipped log, seen by this process
	LogError    string // why the log is not shipped now; "" if it is
}

// Backups is what the destination of a cluster's backups holds.
type Backups struct {
	Status      BackupStatus
	Backups     []BackupInfo // whole ones, the oldest first
	Segments    int          // of the shipped log
	Unfinished  int          // backups that are under way or were interrupted
	Damages     []string     // backups with a manifest that cannot be trusted, with the reasons
	StoredBytes int64
}

// The phases of a backup.
const (
	BackupWrites   = "writes"   // the state to the destination
	BackupVerifies = "verifies" // what was written
)

// BackupProgress is the progress of a backup.
type BackupProgress struct {
	Phase string
	Done  int64 // bytes of the state
	Total int64
}

// BackupTaker takes the scheduled backups of a cluster. Errors are *agent.Error.
type BackupTaker interface {
	// Backups returns what the destination of the backups holds. It is a conflict if the cluster
	// has none.
	Backups(ctx context.Context) (Backups, error)

	// TakeBackup takes a backup now, waits until it is verified, and returns it. It calls progress,
	// which may be nil, now and then. It is a conflict if a backup is under way, or if there is no
	// destination.
	TakeBackup(ctx context.Context, progress func(BackupProgress)) (BackupInfo, error)
}
