package agent

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"iter"
	"net/url"
	"strings"
	"time"
)

// InstanceRef names an instance: one key of a manager.
type InstanceRef struct {
	Scope   string // "" means DefaultScope
	Manager string
	Key     string
}

// Checkpoint is the key of the checkpoint, and the id of the thread, that the
// instance is stored under in its scope. The manager's name is escaped, so that
// no two instances share one.
func (r InstanceRef) Checkpoint() string { return instancePrefix(r.Manager) + r.Key }

// InstanceStatus says where in its life an instance is.
type InstanceStatus string

// The statuses.
const (
	InstanceDormant  InstanceStatus = "dormant"  // stored, and nothing in memory
	InstanceWaking   InstanceStatus = "waking"   // being thawed
	InstanceAwake    InstanceStatus = "awake"    // takes signals
	InstanceDraining InstanceStatus = "draining" // finishes its signals, to hibernate
)

// InstanceSource says where an instance that was asked for came from.
type InstanceSource string

// The sources.
const (
	SourceAwake  InstanceSource = "awake"  // it was awake already
	SourceThawed InstanceSource = "thawed" // from its checkpoint
	SourceFresh  InstanceSource = "fresh"  // there was no checkpoint
)

// Instance is one instance as its owner sees it.
type Instance struct {
	InstanceRef
	Partition   int
	Node        string // its partition's owner
	Epoch       uint64 // …and the epoch of the owning
	Status      InstanceStatus
	Source      InstanceSource // of Start's answer
	Attachments int
	Revision    uint64 // of its checkpoint; 0 where there is none yet
	Thread      string
	Rev         uint64 // of its thread
}

// StartInstance is what an instance that has no checkpoint begins with.
type StartInstance struct {
	InitialState JSON // nil means {}
}

// Attach asks that the instance stay awake for somebody.
type Attach struct {
	Attachment string        // names who; attaching twice under one name is one attachment. "" means one that is made up
	TTL        time.Duration // the attachment lapses unless touched for so long; 0 means the manager's
}

// Name gives the attachment a name that is made of random text, where it has
// none.
func (a *Attach) Name(random string) {
	if a.Attachment == "" {
		a.Attachment = "att_" + strings.ToLower(random)
	}
}

// Attached answers an Attach.
type Attached struct {
	Instance
	Attachment string
	ExpiresAt  int64 // Unix ms
}

// Signal asks an instance's handler for something. Its request id is that of the
// turn's commit: sent again, it gets the first answer and nothing is done twice.
type Signal struct {
	Request Request
	Type    string
	Data    JSON // nil means {}
	Cast    bool // answered once it is in the mailbox

	// Ack is an op of the turn's commit, of a timer's signal: set between nodes
	// only, and nil of all others.
	Ack *AckTimer
}

// Reply answers a signal.
type Reply struct {
	Node     string
	Epoch    uint64
	Rev      uint64 // of the thread after the turn
	Revision uint64 // of the checkpoint after the turn
	Durable  bool   // false under DurabilityIdle and for a cast: a crash may undo it
	Data     JSON   // the handler's answer; nil where it has none
}

// ManagerStats counts a manager's instances over all nodes that answered.
type ManagerStats struct {
	Manager string
	Nodes   []NodeStats // in node order; those that did not answer too
}

// NodeStats counts a manager's instances on one node.
type NodeStats struct {
	Node        string
	Error       string // why the node did not answer; the counts are then not known
	Awake       int
	Waking      int
	Draining    int
	Attachments int
	Signals     uint64 // handled since the node started
	Wakes       uint64
	Hibernated  uint64
	Failed      uint64   // hibernations that failed
	Crashed     uint64   // handlers that panicked or hung
	Keys        []string // of those awake, at most ListLimitMax, in key order
}

// Instances is the contract of live instances: what their owner's node, the
// router and the client implement alike. Errors are *Error; unavailable and
// overloaded mean surely not handled, unknown that it may yet be.
//
// All methods may be called concurrently.
type Instances interface {
	// Start answers with the instance, awake: it wakes one that is dormant and
	// makes one where there is none. A checkpoint that does not thaw is
	// thaw_failed, and nothing is started.
	Start(ctx context.Context, ref InstanceRef, start StartInstance) (Instance, error)

	// Lookup tells how an instance is, without waking it; not_found only where
	// there is neither an awake one nor a checkpoint.
	Lookup(ctx context.Context, ref InstanceRef) (Instance, error)

	// Stop hibernates an instance and ends it; it succeeds only once that is
	// durable. One that is not awake is not_found. One whose agent was erased is
	// ended at once, and nothing of it is stored.
	Stop(ctx context.Context, ref InstanceRef) error

	// Hibernate stores the instance now and lets it sleep.
	Hibernate(ctx context.Context, ref InstanceRef) error

	// Attach starts the instance where it is not awake, in one step.
	Attach(ctx context.Context, ref InstanceRef, attach Attach) (Attached, error)

	// Detach ends an attachment; a missing one is fine.
	Detach(ctx context.Context, ref InstanceRef, attachment string) error

	// Touch arms the idle timer anew, and the attachment where one is named.
	Touch(ctx context.Context, ref InstanceRef, attachment string) error

	// Signal wakes the instance where it is dormant, hands it the signal after
	// those that came before, and returns the handler's answer.
	Signal(ctx context.Context, ref InstanceRef, signal Signal) (Reply, error)

	// Stats counts a manager's instances.
	Stats(ctx context.Context, scope, manager string) (ManagerStats, error)

	// Watch yields how instances change from now on, each change at most once,
	// and says where some may have been missed, as at its beginning. A slow
	// consumer misses some; nobody waits for it. It ends without an error when
	// ctx ends or the consumer stops; an error is its last element.
	Watch(ctx context.Context, w InstanceWatch) iter.Seq2[InstanceEvent, error]
}

// instancePrefix begins the checkpoint keys of a manager's instances.
func instancePrefix(manager string) string {
	return instancesPrefix + url.PathEscape(manager) + "/"
}

// instancesPrefix begins the checkpoint keys of all instances.
const instancesPrefix = "instances/"

// InstanceWatch names whose changes are to be told.
type InstanceWatch struct {
	Scope   string // "" means DefaultScope
	Manager string
	Key     string // "" means all of the manager's instances
}

// InstanceEvent is one element of a watch of instances.
type InstanceEvent struct {
	// Missed tells that changes before this element may have been missed, of
	// Node, or of all nodes where that is "": whoever keeps a list of instances
	// makes it anew. Reason says why, in words. A watch's first element is one:
	// what comes after it is whole until the next. The other fields are empty.
	Missed bool

	InstanceRef
	Node   string // who saw it: the owner, then
	Epoch  uint64 // …of its owning; never less than in an element before it of the same key
	Status InstanceStatus
	Reason string // one of the reasons
	At     int64  // Unix ms, by Node's clock
}

// The reasons of a change: why an instance has the status that it has since.
const (
	ReasonCalled   = "called"   // waking: somebody needs it
	ReasonCrashed  = "crashed"  // waking: its handler panicked or hung, and it starts again; dormant: it will when it is needed
	ReasonErased   = "erased"   // dormant: its agent was erased, and nothing is left of it
	ReasonChanged  = "changed"  // waking: thawed anew, since its manager is another or what is stored may be
	ReasonThawed   = "thawed"   // awake: from its checkpoint
	ReasonFresh    = "fresh"    // awake: there was none
	ReasonWanted   = "wanted"   // awake after all: somebody came while it was to hibernate
	ReasonFailed   = "failed"   // awake still: it could not be stored; dormant: it did not wake
	ReasonIdle     = "idle"     // draining, dormant: nobody needed it, or there was no room
	ReasonManual   = "manual"   // draining, dormant: it was stopped
	ReasonShutdown = "shutdown" // draining, dormant: its node stops, or its partition moves
	ReasonMoved    = "moved"    // dormant here: its partition is not this node's any more
)

// Validate judges what is to be watched, and fills in the default scope.
func (w *InstanceWatch) Validate() error {
	ref := InstanceRef{Scope: w.Scope, Manager: w.Manager, Key: w.Key}
	if ref.Key == "" {
		ref.Key = "any"
	}
	if err := ref.Validate(); err != nil {
		return err
	}
	w.Scope = ref.Scope
	return nil
}

// Validate judges which instance is meant, and fills in the default scope.
func (r *InstanceRef) Validate() error {
	if r.Scope == "" {
		r.Scope = DefaultScope
	}
	if err := firstOf(
		ValidID("scope", r.Scope),
		validManagerName("manager", r.Manager),
		ValidID("key", r.Key),
	); err != nil {
		return err
	}
	if size := len(r.Checkpoint()); size > IDBytesMax {
		return TooLarge("key", "id_bytes_max", size, IDBytesMax)
	}
	return nil
}

// Validate judges what an instance is to begin with, and compacts it.
func (s *StartInstance) Validate() error {
	if err := settle("initial_state", &s.InitialState); err != nil {
		return err
	}
	if len(s.InitialState) > CheckpointBytesMax {
		return TooLarge("initial_state", "checkpoint_bytes_max", len(s.InitialState), CheckpointBytesMax)
	}
	return nil
}

// Validate judges an attachment.
func (a *Attach) Validate() error {
	if a.Attachment != "" {
		if err := ValidID("attachment", a.Attachment); err != nil {
			return err
		}
	}
	if a.TTL != 0 && (a.TTL < AttachmentTTLMin || a.TTL > AttachmentTTLMax) {
		return Invalid("ttl", "ttl = %v must be from %v to %v", a.TTL, AttachmentTTLMin, AttachmentTTLMax)
	}
	return nil
}

// Validate judges a signal, and compacts its data.
func (s *Signal) Validate() error {
	if s.Type == "" {
		return Invalid("type", "type is missing: say what is asked of the handler")
	}
	if err := firstOf(
		s.Request.validate(),
		validText("type", "kind_bytes_max", s.Type, KindBytesMax),
		settle("data", &s.Data),
	); err != nil {
		return err
	}
	if len(s.Data) > SignalBytesMax {
		return TooLarge("data", "signal_bytes_max", len(s.Data), SignalBytesMax)
	}
	return nil
}

// Hash tells a validated signal to an instance from another under the same
// request: the same words to another instance are another signal, which the
// first one's answer is none to. Where the key orders of equal data differ, so
// do the hashes.
func (s *Signal) Hash(to InstanceRef) uint64 {
	h := sha256.New()
	h.Write([]byte(s.Type))
	h.Write([]byte{0}) // no JSON begins with it
	if s.Data != nil {
		h.Write(s.Data)
	} else {
		h.Write(emptyObject)
	}
	h.Write([]byte{0}) // none holds it either
	h.Write([]byte(to.Checkpoint()))
	return binary.BigEndian.Uint64(h.Sum(nil))
}
