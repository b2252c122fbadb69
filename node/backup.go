package node

import (
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/backup/schedule"
	"dormouse/cluster"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/internal/version"
)

// openBackups makes the part that takes backups, if the configuration asks for them.
func (n *Node) openBackups() error {
	b := n.o.Config.Backup
	if b.URL == "" {
		return nil
	}
	if err := blob.Check(b.URL); err != nil {
		return fault("backup.url", err, codeConfig)
	}
	recipients, err := backup.ParseRecipients(b.Recipients)
	if err != nil {
		return fault("backup.recipients", err, codeConfig)
	}
	trusted, err := backup.ParseKeys(b.TrustedKeys)
	if err != nil {
		return fault("backup.trusted_keys", err, codeConfig)
	}
	for _, key := range n.secrets.ring {
		trusted = append(trusted, key.BackupPublic())
	}
	n.backups = schedule.New(schedule.Options{
		Node: n.o.Config.Node.ID, Version: version.String(), URL: b.URL, ClusterID: n.group.ClusterID,
		Open:    func(ctx context.Context) (blob.Store, error) { return blob.Open(ctx, b.URL, b.Program) },
		Warning: func() string { return sharedDevice(b.URL, n.o.Config.Node) },
		Source:  backupSource{n}, Leader: n.group, Key: n.secrets.ring.Current().Backup(), Trusted: trusted, Recipients: recipients, Due: b.Due,
		Retention: backup.Retention{Last: b.Keep, Hourly: b.KeepHourly, Daily: b.KeepDaily, Weekly: b.KeepWeekly, Log: logKept(b)},
		LogEvery:  b.LogEvery, LogBytes: b.LogBytes, Logger: n.logger.Named("backup"),
	})
	n.metrics.registry.MustRegister(n.backups)
	return nil
}

// sharedDevice returns a warning if the directory of a destination and the node's data are on one device; otherwise "".
func sharedDevice(url string, node config.Node) string {
	dir, is := blob.Dir(url)
	if !is || node.Ephemeral {
		return ""
	}
	at, known := deviceOf(dir)
	if mine, ok := deviceOf(node.DataDir); !known || !ok || at != mine {
		return ""
	}
	return fmt.Sprintf("the destination %s is on the device of the data directory, and is lost with it: if it should be on another file system, mount that one", url)
}

// deviceOf returns the device of a file; false if it is not known.
func deviceOf(path string) (device uint64, known bool) {
	info, err := os.Stat(path)
	if err != nil {
		return 0, false
	}
	stat, known := info.Sys().(*syscall.Stat_t)
	if !known {
		return 0, false
	}
	return uint64(stat.Dev), true //nolint:gosec,unconvert // systems differ in the types
}

// logKept returns how long points in time stay restorable.
func logKept(b config.Backup) time.Duration {
	if b.LogEvery == 0 {
		return 0
	}
	return b.KeepLog
}

// backupSource is the state machine and the log of a node.
type backupSource struct{ node *Node }

// Cut implements schedule.Source.
func (s backupSource) Cut() (schedule.Cut, error) {
	cut, err := fsm.TakeCut(s.node.machine)
	if err != nil {
		return nil, err
	}
	return backupCut{cut}, nil
}

type backupCut struct{ *fsm.Cut }

// Describe implements schedule.Cut.
func (c backupCut) Describe(m *backup.Manifest) {
	info := c.Info()
	m.Index, m.Term, m.Chain, m.Time, m.FeatureLevel, m.StateBytes = info.Index, info.Term, info.Chain, info.WallMS, info.FeatureLevel, info.Bytes
}

// Entries implements schedule.Source.
func (s backupSource) Entries(after uint64, use func(e backup.Entry, time int64) bool) (uint64, error) {
	var bad error
	last, err := s.node.group.Entries(after, func(e cluster.Entry) bool {
		at, err := fsm.EntryTime(e.Data)
		if bad = err; err != nil {
			return false
		}
		return use(backup.Entry(e), at)
	})
	if errors.Is(err, cluster.ErrCompacted) {
		err = fmt.Errorf("%w: %w", schedule.ErrCompacted, err)
	}
	return last, errors.Join(err, bad)
}

// ChainAt implements schedule.Source.
func (s backupSource) ChainAt(index uint64) (uint32, bool) { return fsm.ChainAt(s.node.machine, index) }

// errNoBackups refuses calls about backups on a node without a destination.
func errNoBackups() error {
	return agent.Errorf(agent.CodeConflict, "this cluster takes no backups by schedule: set backup.url on all nodes, such as file:///var/backups/dormouse")
}

// Backups implements layout.Operator: the leader answers, whichever node is called.
func (o *operator) Backups(ctx context.Context) (layout.Backups, error) {
	n := o.node
	if n.backups == nil {
		return layout.Backups{}, errNoBackups()
	}
	if addr, other := otherLeader(n); other {
		return n.pool.Backups(addr).Backups(ctx)
	}
	return n.backups.List(ctx)
}

// TakeBackup implements layout.Operator: the leader takes it, whichever node is called.
func (o *operator) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	n := o.node
	if n.backups == nil {
		return layout.BackupInfo{}, errNoBackups()
	}
	if addr, other := otherLeader(n); other {
		return n.pool.Backups(addr).TakeBackup(ctx, progress)
	}
	return n.backups.Take(ctx, progress)
}

// otherLeader returns the address of the leader; false if that is this node, or if none is known.
func otherLeader(n *Node) (addr string, other bool) {
	id, addr := n.group.Leader()
	return addr, addr != "" && id != n.o.Config.Node.ID && !n.group.IsLeader()
}

// peerBackups serves the calls that other nodes forward: this node answers itself.
type peerBackups struct{ node *Node }

// Backups implements layout.BackupTaker.
func (p peerBackups) Backups(ctx context.Context) (layout.Backups, error) {
	if p.node.backups == nil {
		return layout.Backups{}, errNoBackups()
	}
	return p.node.backups.List(ctx)
}

// TakeBackup implements layout.BackupTaker.
func (p peerBackups) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	if p.node.backups == nil {
		return layout.BackupInfo{}, errNoBackups()
	}
	return p.node.backups.Take(ctx, progress)
}

// BackupStatus implements layout.BackupTaker.
func (p peerBackups) BackupStatus(context.Context) (layout.BackupStatus, error) {
	if p.node.backups == nil {
		return layout.BackupStatus{}, errNoBackups()
	}
	return p.node.backups.Status(), nil
}

// backupStatus returns the status of the backups as the leader knows it; nil if this node has no
// destination, or if the leader does not answer soon.
func backupStatus(ctx context.Context, n *Node) *layout.BackupStatus {
	if n.backups == nil {
		return nil
	}
	s := n.backups.Status()
	if addr, other := otherLeader(n); other {
		ctx, cancel := context.WithTimeout(ctx, askMax)
		defer cancel()
		var err error
		if s, err = n.pool.Backups(addr).BackupStatus(ctx); err != nil {
			return nil
		}
	}
	return &s
}
