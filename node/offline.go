package node

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"dormouse/cluster"
	"dormouse/fsm"
	"dormouse/storage"
)

// Survivor describes the data directory of a node that does not run.
type Survivor struct {
	Dir       string   `json:"dir"`
	Node      string   `json:"node"`
	ClusterID string   `json:"cluster_id"`
	Voters    []string `json:"voters"`
	Term      uint64   `json:"term"`          // the current term
	LastTerm  uint64   `json:"last_term"`     // of the last entry
	LastIndex uint64   `json:"last_index"`    // of the last entry
	Applied   uint64   `json:"applied_index"` // the last entry whose effect is in the state on disk
	Missing   uint64   `json:"missing"`       // entries at the end that the node acknowledged and lost
}

// newer reports whether s has entries that other lacks, by Raft's rule for votes: a higher last term,
// or a longer log in the same term.
func (s Survivor) newer(other Survivor) bool {
	if s.LastTerm != other.LastTerm {
		return s.LastTerm > other.LastTerm
	}
	return s.LastIndex > other.LastIndex
}

// Survivors describes the data directories of nodes that do not run, the newest one first. It changes
// only what a start of the node would repair.
func Survivors(ctx context.Context, dirs []string) ([]Survivor, error) {
	var all []Survivor
	for _, dir := range dirs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		s, err := survivor(dir)
		if err != nil {
			return nil, fault("read "+dir, err, codeFailed)
		}
		all = append(all, s)
	}
	slices.SortStableFunc(all, func(a, b Survivor) int {
		switch {
		case a.newer(b):
			return -1
		case b.newer(a):
			return 1
		}
		return 0
	})
	return all, nil
}

func survivor(dir string) (s Survivor, err error) {
	if err := unfinishedRecovery(dir); err != nil {
		return s, err
	}
	state := filepath.Join(dir, "state")
	if _, err := os.Stat(state); err != nil {
		return s, fmt.Errorf("%w: %s is no node's data directory: %w", storage.ErrForeign, dir, err)
	}
	machine, err := fsm.Open(fsm.Options{Dir: state, Fatal: func(error) {}})
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, machine.Close()) }()
	log, err := cluster.OpenOffline(filepath.Join(dir, "raft"), machine)
	if err != nil {
		return s, err
	}
	return describe(dir, machine, log), log.Close()
}

func describe(dir string, machine *fsm.Machine, log *cluster.Offline) Survivor {
	s := Survivor{
		Dir: dir, Node: log.Node, ClusterID: log.ClusterID, Voters: log.Voters,
		Term: log.Term, LastTerm: log.LastTerm, LastIndex: log.Index, Applied: machine.Applied(),
	}
	if s.Applied > s.LastIndex { // the log lost its tail, and the state has the effect
		s.LastIndex, s.LastTerm = s.Applied, fsm.AppliedTerm(machine)
	}
	if log.Marked > s.LastIndex {
		s.Missing = log.Marked - s.LastIndex
	}
	return s
}

// offline is a copy of the state of a node that does not run, with all entries of its log applied. The
// original stays locked.
type offline struct {
	Survivor // before the replay
	machine  *fsm.Machine
	log      *cluster.Offline
	unlock   io.Closer
	closed   sync.Once
	mu       sync.Mutex
	failed   error // why the machine stopped; guarded by mu
}

// openOffline copies the state of the data directory dir to scratch, which must be new and on the same
// disk, and replays the log there. Nothing of dir changes.
func openOffline(ctx context.Context, dir, scratch string) (*offline, error) {
	if err := unfinishedRecovery(dir); err != nil {
		return nil, err
	}
	o := new(offline)
	var err error
	if o.unlock, err = fsm.CopyOffline(filepath.Join(dir, "state"), scratch); err != nil {
		return nil, err
	}
	clusterID := func() string {
		if o.log == nil {
			return ""
		}
		return o.log.ClusterID
	}
	if o.machine, err = fsm.Open(fsm.Options{Dir: scratch, ClusterID: clusterID, Fatal: o.fail}); err != nil {
		return nil, errors.Join(err, o.close())
	}
	if o.log, err = cluster.OpenOffline(filepath.Join(dir, "raft"), o.machine); err != nil {
		return nil, errors.Join(err, o.close())
	}
	o.Survivor = describe(dir, o.machine, o.log)
	if o.ClusterID == "" {
		return nil, errors.Join(fmt.Errorf("%w: the node in %s belongs to no cluster yet", storage.ErrForeign, dir), o.close())
	}
	if err := o.log.Replay(ctx); err != nil {
		o.mu.Lock()
		defer o.mu.Unlock()
		return nil, errors.Join(err, o.failed, o.close())
	}
	return o, nil
}

func (o *offline) fail(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.failed = errors.Join(o.failed, err)
}

// closeMachine closes the copy of the state.
func (o *offline) closeMachine() (err error) {
	o.closed.Do(func() {
		if o.machine != nil {
			err = o.machine.Close()
		}
	})
	return err
}

// close closes everything, and unlocks the directory.
func (o *offline) close() error {
	err := o.closeMachine()
	if o.log != nil {
		err = errors.Join(err, o.log.Close())
	}
	return errors.Join(err, o.unlock.Close())
}

// contextWriter writes to w until ctx ends.
type contextWriter struct {
	ctx context.Context //nolint:containedctx // of one call
	w   io.Writer
}

func (c contextWriter) Write(p []byte) (int, error) {
	if c.ctx.Err() != nil {
		return 0, context.Cause(c.ctx)
	}
	return c.w.Write(p)
}
