package node

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/google/renameio/v2"
	"github.com/google/uuid"

	"dormouse/cluster"
	"dormouse/cluster/keys"
	"dormouse/config"
	"dormouse/fsm"
	"dormouse/storage"
)

// Recovery makes a new cluster of the data directory of one node, after a majority of the voters has
// lost its data. Run builds the new cluster's directories beside the old ones, names them recovery at
// once, and then puts them in the place of the old ones. A crash before that name leaves the node as it
// was. After it, the node refuses to start until another run has finished.
type Recovery struct {
	Config config.Config
	// Others are the other surviving data directories. Run refuses the chosen one if another one
	// has entries that it lacks.
	Others []string
	// AcceptLoss chooses the directory although it lacks entries.
	AcceptLoss bool

	step func(name string) error // called before each step; an error stands for a crash; nil in the product
}

// Recovered describes a recovery.
type Recovered struct {
	Survivor
	NewClusterID string `json:"new_cluster_id"`
	Replayed     uint64 `json:"replayed"` // entries that the log had and the state on disk lacked
	Replaced     string `json:"replaced"` // the directory that keeps the old data
	Key          string `json:"key"`      // the public name of the new cluster key; "" if the configuration names a file
}

const (
	recoveryTemp = "recovery.tmp"  // is being built
	recoveryDir  = "recovery"      // complete; its parts replace those of the node
	recoveryFile = "recovery.json" // of recoveryDir: the Recovered
)

// errUnfinished refuses a data directory of which only some parts belong to the new cluster.
var errUnfinished = errors.New("a recovery of this data directory has not finished")

// unfinishedRecovery returns an error if a recovery of the data directory has begun to replace its parts.
func unfinishedRecovery(dir string) error {
	if _, err := os.Stat(filepath.Join(dir, recoveryDir)); err != nil {
		return nil //nolint:nilerr // there is none
	}
	return fmt.Errorf("%w: run \"dormoused recover --force-new-cluster --data-dir %s\" again", errUnfinished, dir)
}

// Run recovers the node, or finishes an earlier run. If ctx ends before the new directories are named, it
// returns an error, and the node is as it was.
func (r *Recovery) Run(ctx context.Context) (Recovered, error) {
	dir := r.Config.Node.DataDir
	if unfinishedRecovery(dir) != nil {
		return r.finish()
	}
	if err := r.choose(ctx); err != nil {
		return Recovered{}, err
	}
	temp := filepath.Join(dir, recoveryTemp)
	if err := os.RemoveAll(temp); err != nil {
		return Recovered{}, fault("remove what an earlier recovery left", err, codeDisk)
	}
	if err := os.Mkdir(temp, 0o700); err != nil {
		return Recovered{}, fault("make a directory for the new cluster", err, codeDisk)
	}
	scratch := filepath.Join(temp, "copy")
	o, err := openOffline(ctx, dir, scratch)
	if err != nil {
		return Recovered{}, fault("read "+dir, err, codeFailed)
	}
	done, err := r.found(ctx, o, temp, scratch)
	if err == nil {
		done, err = r.finish() // while the old directories are locked
	}
	return done, errors.Join(err, fault("close the old log", o.close(), codeFailed))
}

// choose returns an error if the chosen directory must not be recovered.
func (r *Recovery) choose(ctx context.Context) error {
	dir := r.Config.Node.DataDir
	mine, err := survivor(dir)
	if err != nil {
		return fault("read "+dir, err, codeFailed)
	}
	if mine.Node != r.Config.Node.ID {
		return &ExitError{codeForeignData, fmt.Errorf("%s is the data directory of node %s, and the settings name node %s: use --node-id %s", dir, mine.Node, r.Config.Node.ID, mine.Node)}
	}
	if !slices.Contains(mine.Voters, mine.Node) && !r.AcceptLoss {
		return &ExitError{codeConfig, fmt.Errorf("node %s had no vote, so it may lack entries that were acknowledged: choose the directory of a voter (%s), or continue with --accept-loss", mine.Node, strings.Join(mine.Voters, ", "))}
	}
	if mine.Missing > 0 && !r.AcceptLoss {
		return &ExitError{codeConfig, fmt.Errorf("%s lacks the last %d entries that node %s acknowledged: choose another directory, or continue without them with --accept-loss", dir, mine.Missing, mine.Node)}
	}
	others, err := Survivors(ctx, r.Others)
	if err != nil {
		return err
	}
	for _, other := range others {
		if other.ClusterID != mine.ClusterID {
			return &ExitError{codeForeignData, fmt.Errorf("%s belongs to cluster %s, and %s to cluster %s: name directories of one cluster", dir, mine.ClusterID, other.Dir, other.ClusterID)}
		}
		if other.newer(mine) && !r.AcceptLoss {
			return &ExitError{codeConfig, fmt.Errorf("%s ends at entry %d of term %d, and %s at entry %d of term %d: recover the latter, or give up its entries with --accept-loss",
				dir, mine.LastIndex, mine.LastTerm, other.Dir, other.LastIndex, other.LastTerm)}
		}
	}
	return nil
}

// found builds the new cluster in temp, and names it recoveryDir. The end of ctx stops it before that.
func (r *Recovery) found(ctx context.Context, o *offline, temp, scratch string) (done Recovered, err error) {
	c := r.Config
	done = Recovered{Survivor: o.Survivor, NewClusterID: uuid.NewString(), Replayed: o.machine.Applied() - o.Applied}
	done.Replaced = filepath.Join(c.Node.DataDir, "replaced-"+o.ClusterID)
	voter, err := cluster.FoundRestored(cluster.Restored{
		Dir: filepath.Join(temp, "raft"), LogStore: c.Raft.LogStore, NodeID: c.Node.ID, Addr: c.Raft.Advertise, ClusterID: done.NewClusterID,
	})
	if err != nil {
		return done, fault("found the new cluster", err, codeFailed)
	}
	if err := r.before("state"); err != nil {
		return done, err
	}
	state, stream := io.Pipe()
	go func() { _ = stream.CloseWithError(o.machine.WriteBackup(contextWriter{ctx, stream})) }()
	_, err = fsm.RestoreBackup(state, fsm.RestoreOptions{Dir: filepath.Join(temp, "state"), ClusterID: done.NewClusterID, Voter: voter})
	_ = state.CloseWithError(errors.New("the restore has ended")) // ends the writer if it has not
	if err := errors.Join(err, o.closeMachine(), os.RemoveAll(scratch)); err != nil {
		return done, fault("copy the state", err, codeFailed)
	}
	if c.Cluster.KeyFile == "" {
		key := keys.New()
		done.Key = key.ID()
		if err := keys.WriteFile(filepath.Join(temp, clusterKeyFile), keys.Ring{key}.Encode()); err != nil {
			return done, fault("write the new cluster key", err, codeDisk)
		}
	}
	if err := writeJSON(filepath.Join(temp, recoveryFile), done); err != nil {
		return done, fault("describe the recovery", err, codeDisk)
	}
	for _, made := range []string{filepath.Join(temp, "raft"), temp} {
		if err := storage.SyncDir(storage.Disk, made); err != nil {
			return done, fault("sync the new cluster's directories", err, codeDisk)
		}
	}
	if err := r.before("name"); err != nil {
		return done, err
	}
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	return done, fault("name the new cluster's directory", move(temp, filepath.Join(c.Node.DataDir, recoveryDir)), codeDisk)
}

// finish puts the parts of recoveryDir in the place of the node's. Each part is moved after the one that
// it replaces, and both moves can be repeated.
func (r *Recovery) finish() (done Recovered, err error) {
	dir := r.Config.Node.DataDir
	next := filepath.Join(dir, recoveryDir)
	raw, err := os.ReadFile(filepath.Join(next, recoveryFile))
	if err == nil {
		err = json.Unmarshal(raw, &done)
	}
	if err != nil {
		return done, fault("read what an earlier recovery has done", err, codeDamaged)
	}
	if done.Node != r.Config.Node.ID {
		return done, &ExitError{codeForeignData, fmt.Errorf("the unfinished recovery in %s is that of node %s: use --node-id %s", dir, done.Node, done.Node)}
	}
	done.Replaced = filepath.Join(dir, filepath.Base(done.Replaced)) // the directory may have moved
	if err := os.MkdirAll(done.Replaced, 0o700); err != nil {
		return done, fault("make a directory for the old data", err, codeDisk)
	}
	for _, part := range []string{"raft", "state", clusterKeyFile, hostKeyFile} {
		if err := r.replace(dir, part, done.Replaced, part != hostKeyFile); err != nil {
			return done, err
		}
	}
	if err := r.before("end"); err != nil {
		return done, err
	}
	return done, fault("end the recovery", move(next, filepath.Join(done.Replaced, recoveryDir)), codeDisk)
}

// replace moves a part of the data directory to replaced, and then the new one to its place.
func (r *Recovery) replace(dir, part, replaced string, renewed bool) error {
	next, current := filepath.Join(dir, recoveryDir, part), filepath.Join(dir, part)
	if _, err := os.Stat(next); renewed && errors.Is(err, os.ErrNotExist) {
		return nil // it is in its place, or the part stays
	}
	if err := r.before("move the old " + part); err != nil {
		return err
	}
	if _, err := os.Stat(current); err == nil {
		if err := move(current, filepath.Join(replaced, part)); err != nil {
			return fault("move the old data", err, codeDisk)
		}
	}
	if !renewed {
		return nil // the next start writes it
	}
	if err := r.before("move the new " + part); err != nil {
		return err
	}
	return fault("move the new data", move(next, current), codeDisk)
}

func (r *Recovery) before(step string) error {
	if r.step == nil {
		return nil
	}
	return r.step(step)
}

// move renames a file or a directory, durably.
func move(from, to string) error {
	if err := storage.SyncDir(storage.Disk, filepath.Dir(from)); err != nil {
		return err
	}
	if err := os.Rename(from, to); err != nil {
		return err
	}
	return errors.Join(storage.SyncDir(storage.Disk, filepath.Dir(to)), storage.SyncDir(storage.Disk, filepath.Dir(from)))
}

func writeJSON(path string, document any) error {
	raw, err := json.MarshalIndent(document, "", "  ")
	if err != nil {
		return err
	}
	return renameio.WriteFile(path, append(raw, '\n'), 0o600)
}
