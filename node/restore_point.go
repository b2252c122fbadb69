package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"dormouse/backup"
	"dormouse/backup/blob"
	"dormouse/cluster/keys"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/storage"
)

// Archive names the backups and the shipped log of a cluster, and how to read them.
type Archive struct {
	URL           string   // of the destination
	Program       string   // path of dormblob; "" means beside this program, or in $PATH
	Cluster       string   // the cluster's id; "" means the only one there
	PublicKeys    []string // of signers to trust, as "dormctl backup ls" shows them
	KeyFiles      []string // cluster key files, whose signatures to trust
	AnySigner     bool     // trust each signature: for a destination that no attacker can write to
	IdentityFiles []string // age identities that decrypt
}

// open opens the catalog of the archive. Close its Store after use.
func (a Archive) open(ctx context.Context) (*backup.Catalog, error) {
	const doing = "open the backups"
	c, err := a.catalog()
	if err != nil {
		return nil, fault(doing, err, codeConfig)
	}
	if c.Store, err = blob.OpenToRead(ctx, a.URL, a.Program); err != nil {
		return nil, fault(doing, err, codeFailed)
	}
	if c.Cluster == "" {
		if c.Cluster, err = onlyCluster(ctx, c.Store); err != nil {
			return nil, errors.Join(fault(doing, err, codeFailed), c.Store.Close())
		}
	}
	return c, nil
}

// catalog returns the catalog without its store.
func (a Archive) catalog() (*backup.Catalog, error) {
	if err := blob.Check(a.URL); err != nil {
		return nil, err
	}
	public, err := backup.ParseKeys(a.PublicKeys)
	if err != nil {
		return nil, err
	}
	trust := backup.Trust{Keys: public, Anyone: a.AnySigner}
	for _, file := range a.KeyFiles {
		ring, err := keys.ReadRing(file)
		if err != nil {
			return nil, err
		}
		for _, key := range ring {
			trust.Keys = append(trust.Keys, key.BackupPublic())
		}
	}
	if len(trust.Keys) == 0 && !trust.Anyone {
		return nil, errors.New("nothing says whose signatures to trust: name the public key of the backups with --public-key, or the cluster key of the old cluster with --trust-key-file; --any-signer trusts all")
	}
	ids, err := backup.ReadIdentities(a.IdentityFiles)
	if err != nil {
		return nil, err
	}
	return &backup.Catalog{Cluster: a.Cluster, Trust: trust, Identities: ids}, nil
}

func onlyCluster(ctx context.Context, s blob.Store) (string, error) {
	all, err := backup.Clusters(ctx, s)
	switch {
	case err != nil:
		return "", err
	case len(all) == 0:
		return "", errors.New("there are no backups")
	case len(all) > 1:
		return "", &ExitError{codeConfig, fmt.Errorf("there are backups of the clusters %s: name one with --cluster", strings.Join(all, " and "))}
	}
	return all[0], nil
}

// Point is the state at an entry or an instant, from a backup and the shipped log.
type Point struct {
	Archive Archive
	Target  backup.Target
	// Tell is called with what is done, before it is done. It may be nil.
	Tell func(format string, args ...any)
}

// Restored describes a state that was built from a backup, and from the shipped log if there is one.
type Restored struct {
	ClusterID  string `json:"cluster_id"` // of the backup
	Backup     string `json:"backup"`     // its name, or its file
	Index      uint64 `json:"index"`      // the last entry
	Time       int64  `json:"time"`       // of the log, at that entry; Unix milliseconds
	Segments   int    `json:"segments"`
	Entries    int    `json:"entries"`              // replayed
	StateHash  string `json:"state_hash,omitempty"` // not of the file of a backup, which has none
	NewCluster string `json:"new_cluster_id,omitempty"`

	// Of the archive.
	Backups     int      `json:"backups"`
	ShippedTo   uint64   `json:"shipped_to,omitempty"`
	ShippedTime int64    `json:"shipped_time,omitempty"`
	Checked     []string `json:"checked,omitempty"` // the backups that were restored
}

// When returns the text of the time of the last entry.
func (r Restored) When() string { return backup.When(r.Time) }

// NewPoint returns the point in time that a text names: an index of the log, an instant in RFC 3339,
// or "" for the end of what was shipped.
func NewPoint(a Archive, at string) (Point, error) {
	target, err := backup.ParseTarget(at)
	return Point{Archive: a, Target: target}, err
}

func (p Point) tell(format string, args ...any) {
	if p.Tell != nil {
		p.Tell(format, args...)
	}
}

// RestorePoint makes c's empty data directory the one node of a new cluster, with the state at a
// point in time. The state is built in a directory beside, and the node's directories are made once
// it is complete.
func RestorePoint(ctx context.Context, c config.Config, p Point) (done Restored, err error) {
	if err := unused(c.Node.DataDir); err != nil {
		return done, err
	}
	if err := makeDataDir(c.Node.DataDir); err != nil {
		return done, fault("make the data directory", err, codeDisk)
	}
	scratch := filepath.Join(c.Node.DataDir, restoreTemp)
	if err := os.RemoveAll(scratch); err != nil {
		return done, fault("remove what an earlier restore left", err, codeDisk)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(scratch)) }()
	err = p.build(ctx, storage.Disk, filepath.Join(scratch, "state"), &done, func(r *fsm.Replica) error {
		p.tell("the state ends at entry %d of %s; making it the new cluster of node %s in %s", done.Index, backup.When(done.Time), c.Node.ID, c.Node.DataDir)
		state, stream := io.Pipe()
		go func() { _ = stream.CloseWithError(r.WriteBackup(stream)) }()
		id, err := foundFrom(ctx, c, state)
		_ = state.CloseWithError(errors.New("the restore has ended")) // ends the writer if it has not
		done.NewCluster = id
		return err
	})
	return done, err
}

// build builds the state at the point, and calls use with it.
func (p Point) build(ctx context.Context, fs storage.FS, dir string, done *Restored, use func(r *fsm.Replica) error) error {
	c, err := p.Archive.open(ctx)
	if err != nil {
		return err
	}
	defer c.Store.Close() //nolint:errcheck // it was only read
	plan, err := c.Plan(ctx, p.Target)
	if err != nil {
		return fault("choose a backup", err, codeFailed)
	}
	p.tellForeign(plan.Foreign)
	var first error
	for {
		err := p.run(ctx, c, plan, fs, dir, done, use)
		if first == nil {
			first = err
		}
		if !errors.Is(err, errBase) || ctx.Err() != nil {
			return err
		}
		next, ok := plan.Older()
		if !ok {
			return first
		}
		p.tell("backup %s cannot be used: %v; trying the one before it, %s", plan.Base.Name, err, next.Base.Name)
		if err := fs.RemoveAll(dir); err != nil {
			return fault("remove the state of backup "+plan.Base.Name, err, codeDisk)
		}
		plan = next
	}
}

// errBase is wrapped by the error of a restore whose backup cannot be used: an older one, and the log after it, may give
// the same state.
var errBase = errors.New("the backup cannot be used")

// unusable returns the error of a backup that cannot be used. A full disk is no fault of the backup.
func unusable(doing string, err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w: %w", errBase, err)
	}
	return fault(doing, err, codeFailed)
}

// tellForeign says which backups other keys have signed.
func (p Point) tellForeign(names []string) {
	if len(names) > 0 {
		p.tell("not used, since no trusted key has signed them: %s", strings.Join(names, ", "))
	}
}

// run carries out a plan.
func (p Point) run(ctx context.Context, c *backup.Catalog, plan *backup.Plan, fs storage.FS, dir string, done *Restored, use func(r *fsm.Replica) error) (err error) {
	base := plan.Base
	*done = Restored{ClusterID: plan.Cluster, Backup: base.Name, ShippedTo: plan.Head, ShippedTime: plan.HeadTime}
	p.tell("restoring cluster %s to %v: backup %s (entry %d, %s), and the log after it (%d segments)", plan.Cluster, plan.Target, base.Name, base.Index, backup.When(base.Time), len(plan.Segments))
	stream, err := c.State(ctx, base)
	if err != nil {
		return unusable("read the backup", err)
	}
	defer stream.Close() //nolint:errcheck // it was only read
	r, err := fsm.OpenReplica(fs, dir, fsm.Caches{}, stream)
	if err != nil {
		return unusable("read the backup", err)
	}
	defer func() { err = errors.Join(err, r.Close()) }()
	if _, err := io.Copy(io.Discard, stream); err != nil { // the end compares the checksum
		return unusable("read the backup", err)
	}
	hash, err := stateHash(ctx, r)
	if err != nil {
		return fault("hash the state", err, codeFailed)
	}
	if hash != base.StateHash {
		return unusable("check the backup", fmt.Errorf("backup %s gives a state with hash %s, and its manifest says %s", base.Name, hash, base.StateHash))
	}
	o, err := plan.Replay(ctx, r, fsm.EntryTime, p.progress())
	if errors.Is(err, backup.ErrState) {
		return unusable("check the backup", err)
	}
	if err != nil {
		return fault("replay the log", err, codeFailed)
	}
	done.Index, done.Time, done.Segments, done.Entries = o.Index, o.Time, o.Segments, o.Entries
	if done.StateHash, err = stateHash(ctx, r); err != nil {
		return fault("hash the state", err, codeFailed)
	}
	return use(r)
}

// segmentsTold is the number of segments between two reports of a replay.
const segmentsTold = 1000

func (p Point) progress() func(backup.Outcome) {
	return func(o backup.Outcome) {
		if o.Segments%segmentsTold == 0 {
			p.tell("replayed %d segments, up to entry %d of %s", o.Segments, o.Index, backup.When(o.Time))
		}
	}
}

// RehearsePoint builds the state at a point in time, and removes it again. within is a directory for
// states that do not fit memory.
func RehearsePoint(ctx context.Context, p Point, within string) (done Restored, err error) {
	dir, err := os.MkdirTemp(within, rehearsalPrefix)
	if err != nil {
		return done, fault("make a temporary directory", err, codeDisk)
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	err = p.build(ctx, storage.Disk, filepath.Join(dir, "state"), &done, func(*fsm.Replica) error { return nil })
	return done, err
}

// VerifyArchive restores the backup of a name, or each backup if all is set, or else the newest one,
// and compares its state with its manifest. Unless a name is given, it replays the shipped log to its
// end: from the newest backup, or if all is set from the oldest one whose log is kept. within is as
// for RehearsePoint.
func VerifyArchive(ctx context.Context, p Point, name string, all bool, within string) (done Restored, err error) {
	c, err := p.Archive.open(ctx)
	if err != nil {
		return done, err
	}
	defer c.Store.Close() //nolint:errcheck // it was only read
	contents, err := c.List(ctx)
	if err != nil {
		return done, fault("list the backups", err, codeFailed)
	}
	for name, why := range contents.Damages {
		return done, fault("list the backups", fmt.Errorf("the manifest of backup %s: %w", name, why), codeFailed)
	}
	if why := contents.Foreign[name]; why != nil {
		return done, fault("choose a backup", fmt.Errorf("the manifest of backup %s: %w", name, why), codeFailed)
	}
	p.tellForeign(slices.Sorted(maps.Keys(contents.Foreign)))
	var chosen []backup.Manifest
	for i, m := range contents.Backups {
		if all || m.Name == name || name == "" && i == len(contents.Backups)-1 {
			chosen = append(chosen, m)
		}
	}
	if len(chosen) == 0 {
		return done, fault("choose a backup", fmt.Errorf("there is no whole %s of cluster %s", strings.TrimSpace("backup "+name), c.Cluster), codeFailed)
	}
	var checked []string
	from := 0 // whose log is replayed to its end
	if all {
		if from = backup.LogBase(chosen, contents.Segments); from > 0 {
			p.tell("the log is kept from backup %s on: the %d older backups are restored without it", chosen[from].Name, from)
		}
	}
	for i, m := range chosen {
		p.Target = backup.Target{Index: m.Index}
		if i == from && (name == "" || all) {
			p.Target = backup.Target{} // to the end of the log
		}
		plan, err := c.PlanFrom(ctx, m, p.Target)
		if err != nil {
			return done, fault("plan", err, codeFailed)
		}
		dir, err := os.MkdirTemp(within, rehearsalPrefix)
		if err != nil {
			return done, fault("make a temporary directory", err, codeDisk)
		}
		var one Restored
		err = p.run(ctx, c, plan, storage.Disk, filepath.Join(dir, "state"), &one, func(*fsm.Replica) error { return nil })
		if err = errors.Join(err, os.RemoveAll(dir)); err != nil {
			return done, err
		}
		if i == from {
			done = one
		}
		checked = append(checked, m.Name)
	}
	done.Backups, done.Checked = len(contents.Backups), checked
	return done, nil
}
