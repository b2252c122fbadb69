package gossip

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/go-hclog"
	"github.com/hashicorp/memberlist"
)

// Status is the status of a member as this node sees it.
type Status string

// The statuses. A Suspect member is alive and does not answer this node's own
// probes at present. Most recover; the others soon count as Failed.
const (
	Alive   Status = "alive"
	Suspect Status = "suspect"
	Failed  Status = "failed"
	Left    Status = "left"
)

// Seen is a member as this node sees it.
type Seen struct {
	Name        string // the operator's name for it
	Incarnation string // of its data directory
	Status      Status
	Addr        string // host:port of its gossip
	Meta        Meta
}

// departedMax bounds the failed and left members that are remembered; the oldest are
// forgotten first.
const departedMax = 128

// roster records the members that memberlist reports. It keeps copies, because
// memberlist goes on writing to the nodes that it hands out, and does not say
// whether a member failed or left.
type roster struct {
	self   string
	every  time.Duration // between two probes of any member
	logger hclog.Logger
	wake   chan struct{} // capacity 1: changed has grown

	mu        sync.Mutex
	card      card               // this node's own; guarded by mu
	members   map[string]*member // by name; guarded by mu
	changed   []string           // names, each once, in the order of their first change; guarded by mu
	conflicts uint64             // guarded by mu
	logged    time.Time          // when a conflict was last logged; guarded by mu
}

type member struct {
	seen    Seen
	leaving bool      // it said that it would leave
	heard   time.Time // when it joined, or last answered a probe of this node
	gone    time.Time // when it left or failed; zero before
}

func newRoster(o Options, every time.Duration) *roster {
	return &roster{
		self: o.Name, every: every, logger: o.Logger, wake: make(chan struct{}, 1),
		card: card{Meta: o.Meta, incarnation: o.Incarnation}, members: map[string]*member{},
	}
}

// list returns all members, sorted by name.
func (r *roster) list() []Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []Seen
	for name := range r.members {
		all = append(all, r.seenLocked(name))
	}
	slices.SortFunc(all, func(a, b Seen) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// seenLocked returns a member as this node sees it. This node probes each member
// once a round; a member that has not answered in two rounds is suspect.
func (r *roster) seenLocked(name string) Seen {
	m := r.members[name]
	seen := m.seen
	rounds := 2 * time.Duration(len(r.members)+1) * r.every
	if seen.Status == Alive && name != r.self && time.Since(m.heard) > rounds {
		seen.Status = Suspect
	}
	return seen
}

// take returns the members that have changed since the last call.
func (r *roster) take() []Seen {
	r.mu.Lock()
	defer r.mu.Unlock()
	var changed []Seen
	for _, name := range r.changed {
		if r.members[name] != nil {
			changed = append(changed, r.seenLocked(name))
		}
	}
	r.changed = nil
	return changed
}

func (r *roster) noteLocked(name string) {
	if !slices.Contains(r.changed, name) {
		r.changed = append(r.changed, name)
	}
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// NotifyAlive implements memberlist.AliveDelegate. It refuses a node whose metadata
// cannot be decoded. It accepts messages about this node itself, which memberlist
// then refutes.
func (r *roster) NotifyAlive(node *memberlist.Node) error {
	if node.Name == r.self {
		return nil
	}
	_, err := decodeCard(node.Meta)
	return err
}

// NotifyJoin implements memberlist.EventDelegate.
func (r *roster) NotifyJoin(node *memberlist.Node) { r.arrive(node) }

// NotifyUpdate implements memberlist.EventDelegate.
func (r *roster) NotifyUpdate(node *memberlist.Node) { r.arrive(node) }

func (r *roster) arrive(node *memberlist.Node) {
	c, err := decodeCard(node.Meta)
	if err != nil {
		return // a node with this node's name sent it; memberlist refutes it
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.members[node.Name] = &member{
		seen:    Seen{Name: node.Name, Incarnation: c.incarnation, Status: Alive, Addr: node.Address(), Meta: c.Meta},
		leaving: c.leaving, heard: time.Now(),
	}
	r.noteLocked(node.Name)
}

// NotifyLeave implements memberlist.EventDelegate.
func (r *roster) NotifyLeave(node *memberlist.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	m := r.members[node.Name]
	if m == nil {
		return
	}
	m.seen.Status, m.gone = Failed, time.Now()
	if m.leaving {
		m.seen.Status = Left
	}
	r.noteLocked(node.Name)
	r.trimLocked()
}

func (r *roster) trimLocked() {
	var departed []*member
	for _, m := range r.members {
		if !m.gone.IsZero() {
			departed = append(departed, m)
		}
	}
	if len(departed) <= departedMax {
		return
	}
	slices.SortFunc(departed, func(a, b *member) int { return a.gone.Compare(b.gone) })
	for _, m := range departed[:len(departed)-departedMax] {
		delete(r.members, m.seen.Name)
	}
}

// NotifyConflict implements memberlist.ConflictDelegate. It counts and logs the
// conflict; memberlist has refused the other node.
func (r *roster) NotifyConflict(existing, other *memberlist.Node) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.conflicts++
	if time.Since(r.logged) < time.Minute {
		return
	}
	r.logged = time.Now()
	r.logger.Error("two nodes use one name: the second is refused until the first is gone; give each its own name", "name", existing.Name, "first", existing.Address(), "second", other.Address())
}

// AckPayload implements memberlist.PingDelegate.
func (r *roster) AckPayload() []byte { return nil }

// NotifyPingComplete implements memberlist.PingDelegate.
func (r *roster) NotifyPingComplete(other *memberlist.Node, _ time.Duration, _ []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if m := r.members[other.Name]; m != nil {
		m.heard = time.Now()
	}
}

// setCard changes this node's own card.
func (r *roster) setCard(change func(*card)) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.card
	change(&next)
	if _, err := next.encode(); err != nil {
		return err
	}
	r.card = next
	return nil
}

// NodeMeta implements memberlist.Delegate.
func (r *roster) NodeMeta(limit int) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, err := r.card.encode()
	if err != nil || len(raw) > limit {
		panic(fmt.Sprintf("gossip: metadata that was checked is invalid: %v", err)) // setCard and New have checked it
	}
	return raw
}

// NotifyMsg implements memberlist.Delegate. Nodes send no such messages.
func (*roster) NotifyMsg([]byte) {}

// GetBroadcasts implements memberlist.Delegate.
func (*roster) GetBroadcasts(int, int) [][]byte { return nil }

// LocalState implements memberlist.Delegate.
func (*roster) LocalState(bool) []byte { return nil }

// MergeRemoteState implements memberlist.Delegate.
func (*roster) MergeRemoteState([]byte, bool) {}
