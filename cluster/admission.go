package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/hashicorp/raft"

	"dormouse/internal/pause"
)

// A node that comes back with an empty directory is another one under an old
// name. The cluster takes the old one's vote before it lets the new one in
// (bury). But the log that it is then sent begins before that, with the
// memberships in which its name had a vote: with a founder's name it would need
// no vote but its own, and elect itself.
//
// So the leader that lets a node in names an entry that it wrote after all that.
// Until the log here holds that very entry, which no other history does, this
// node gives no vote, asks for none, is not given one, and confirms nobody's
// term. Why so: ADR 22.
//
// Nor does it stand. A lone voter asks nobody, so it would raise its term with
// each attempt that fails, and depose each leader that it hears of afterwards.

// noviceTimeout is how long a node that is not to stand waits for a leader.
const noviceTimeout = 24 * time.Hour

// noviceLook paces the look at whether it may.
const noviceLook = 100 * time.Millisecond

// errNotAdmitted answers votes while this node reads of memberships that are over.
var errNotAdmitted = errors.New("this node is new, and its log does not reach to where it was let in: it may not vote yet")

var keyAdmission = []byte("dormouse/admission")

// Admission is the entry from which a new node has a part in elections. The zero
// value is none: the founder's, which was never let in.
type Admission struct {
	Index uint64
	Term  uint64
}

// admission is what this node knows of its own. It may be used concurrently.
type admission struct {
	stable raft.StableStore
	logs   raft.LogStore
	newest *newestSnapshot

	at      atomic.Pointer[Admission] // nil: none
	reached atomic.Bool               // the log holds it, as it will for ever
	news    chan struct{}             // capacity 1: it may have become this node's
}

func newAdmission(stable raft.StableStore, logs raft.LogStore, newest *newestSnapshot) *admission {
	return &admission{stable: stable, logs: logs, newest: newest, news: make(chan struct{}, 1)}
}

func (a *admission) load() error {
	kept, err := a.stable.Get(keyAdmission)
	switch {
	case err != nil && !absent(err):
		return err
	case len(kept) == 0:
		return nil
	case len(kept) != 16:
		return fmt.Errorf("%w: %s has %d bytes, not 16: %s", ErrDamaged, keyAdmission, len(kept), Rebuild)
	}
	a.set(Admission{Index: binary.BigEndian.Uint64(kept), Term: binary.BigEndian.Uint64(kept[8:])})
	return nil
}

// keep makes at this node's admission, durably. It has followed nobody yet.
func (a *admission) keep(at Admission) error {
	if at == (Admission{}) { // the leader is of a version that names none
		return nil
	}
	kept := binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(nil, at.Index), at.Term)
	if err := a.stable.Set(keyAdmission, kept); err != nil {
		return fmt.Errorf("keep the admission: %w", err)
	}
	a.set(at)
	return nil
}

func (a *admission) set(at Admission) {
	a.at.Store(&at)
	select {
	case a.news <- struct{}{}:
	default:
	}
}

// over tells whether the log holds the entry. It is committed, so it stays.
func (a *admission) over() bool {
	at := a.at.Load()
	if at == nil || a.reached.Load() {
		return true
	}
	var entry raft.Log
	if a.newest.index() < at.Index && (a.logs.GetLog(at.Index, &entry) != nil || entry.Term != at.Term) {
		return false
	}
	a.reached.Store(true)
	return true
}

// admission writes the entry from which a node that is let in now counts.
func (g *Group) admission(ctx context.Context) (Admission, error) {
	index, err := g.entryBarrier(ctx)
	if err != nil {
		return Admission{}, err
	}
	var entry raft.Log
	if err := g.stores.logs.GetLog(index, &entry); err != nil {
		return Admission{}, fmt.Errorf("read the entry of an admission: %w", err)
	}
	return Admission{Index: index, Term: entry.Term}, nil
}

// enrol makes at this node's admission before it follows anybody.
func (g *Group) enrol(at Admission) error {
	if err := g.stores.admission.keep(at); err != nil {
		return err
	}
	if g.stores.admission.over() {
		return nil
	}
	return g.reload(func(c *raft.ReloadableConfig) { c.HeartbeatTimeout, c.ElectionTimeout = noviceTimeout, noviceTimeout })
}

// graduate lets raft stand when the admission is over, until ctx ends.
func (g *Group) graduate(ctx context.Context) error {
	a := g.stores.admission
	for {
		select {
		case <-a.news:
		case <-ctx.Done():
			return nil
		}
		for !a.over() {
			if !pause.For(ctx, noviceLook) {
				return nil
			}
		}
		err := g.reload(func(c *raft.ReloadableConfig) {
			c.HeartbeatTimeout, c.ElectionTimeout = g.o.Timing.Heartbeat, g.o.Timing.Election
		})
		if err != nil {
			return err
		}
	}
}

// reload changes what raft lets change while it runs.
func (g *Group) reload(change func(*raft.ReloadableConfig)) error {
	g.reloading.Lock()
	defer g.reloading.Unlock()
	c := g.raft.ReloadableConfig()
	change(&c)
	if err := g.raft.ReloadConfig(c); err != nil {
		return fmt.Errorf("change raft's settings: %w", err)
	}
	return nil
}
