package document

import "dormouse/agent/layout"

// BackupStatus is the status of the scheduled backups.
type BackupStatus struct {
	URL       string `json:"url" doc:"The destination"`
	Node      string `json:"node" doc:"The node that answers: the leader"`
	PublicKey string `json:"public_key" doc:"Of the key that signs backups"`
	Encrypted bool   `json:"encrypted"`
	ShipsLog  bool   `json:"ships_log" doc:"The log is shipped, for recovery to a point in time"`

	Next          int64  `json:"next,omitzero" doc:"When the next backup is due"`
	Phase         string `json:"phase,omitempty" doc:"Of the backup under way: writes or verifies"`
	LastName      string `json:"last_name,omitempty" doc:"The newest whole backup"`
	LastIndex     uint64 `json:"last_index,omitzero"`
	LastSuccessAt int64  `json:"last_success_at,omitzero" doc:"When it was verified"`
	LastError     string `json:"last_error,omitempty"`
	LastErrorAt   int64  `json:"last_error_at,omitzero"`

	ShippedTo   uint64 `json:"shipped_to,omitzero" doc:"The last log entry that was shipped"`
	ShippedTime int64  `json:"shipped_time,omitzero" doc:"The time of the log at that entry"`
	Gaps        uint64 `json:"gaps" doc:"How often the shipped log lost entries, since the leader's process leads"`
	LogError    string `json:"log_error,omitempty" doc:"Why the log is not shipped now"`
}

// BackupStatusOf returns the document of s.
func BackupStatusOf(s layout.BackupStatus) BackupStatus {
	return BackupStatus{
		URL: s.URL, Node: s.Node, PublicKey: s.PublicKey, Encrypted: s.Encrypted, ShipsLog: s.ShipsLog,
		Next: s.Next, Phase: s.Phase, LastName: s.LastName, LastIndex: s.LastIndex, LastSuccessAt: s.LastSuccessAt,
		LastError: s.LastError, LastErrorAt: s.LastErrorAt, ShippedTo: s.ShippedTo, ShippedTime: s.ShippedTime, Gaps: s.Gaps, LogError: s.LogError,
	}
}

// Backup describes a whole backup.
type Backup struct {
	Name       string `json:"name"`
	Node       string `json:"node" doc:"The node that took it"`
	Index      uint64 `json:"index" doc:"The last log entry in it"`
	Term       uint64 `json:"term"`
	Time       int64  `json:"time" doc:"The time of the log at that entry"`
	StartedAt  int64  `json:"started_at"`
	VerifiedAt int64  `json:"verified_at" doc:"When the node had restored it again, and compared the state"`
	StateBytes int64  `json:"state_bytes"`
	Bytes      int64  `json:"bytes" doc:"As stored"`
	Encrypted  bool   `json:"encrypted"`
	StateHash  string `json:"state_hash" doc:"SHA-256 over all rows"`
	Key        string `json:"key" doc:"The public key of the one that signed it"`
}

// BackupOf returns the document of b.
func BackupOf(b layout.BackupInfo) Backup {
	return Backup{
		Name: b.Name, Node: b.Node, Index: b.Index, Term: b.Term, Time: b.Time, StartedAt: b.StartedAt, VerifiedAt: b.VerifiedAt,
		StateBytes: b.StateBytes, Bytes: b.Bytes, Encrypted: b.Encrypted, StateHash: b.StateHash, Key: b.Key,
	}
}

// Backups is what the destination of the backups holds.
type Backups struct {
	Status      BackupStatus `json:"status"`
	Backups     []Backup     `json:"backups" nullable:"false" doc:"The oldest first"`
	Segments    int          `json:"segments" doc:"Of the shipped log"`
	Unfinished  int          `json:"unfinished" doc:"Backups that are under way or were interrupted"`
	Damages     []string     `json:"damages" nullable:"false" doc:"Backups with a manifest that cannot be trusted, with the reasons"`
	StoredBytes int64        `json:"stored_bytes"`
}

// BackupsOf returns the document of b.
func BackupsOf(b layout.Backups) Backups {
	out := Backups{
		Status: BackupStatusOf(b.Status), Backups: make([]Backup, len(b.Backups)), Segments: b.Segments, Unfinished: b.Unfinished,
		Damages: append([]string{}, b.Damages...), StoredBytes: b.StoredBytes,
	}
	for i, one := range b.Backups {
		out.Backups[i] = BackupOf(one)
	}
	return out
}
