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

// Checkpoint returns the key of the instance's checkpoint, which is also the id of its
// thread. The manager's name is escaped, so that no two instances share a key.
func (r InstanceRef) Checkpoint() string { return instancePrefix(r.Manager) + r.Key }

// InstanceStatus is the status of an instance.
type InstanceStatus string

// The statuses.
const (
	InstanceDormant  InstanceStatus = "dormant"  // stored, and not in memory
	InstanceWaking   InstanceStatus = "waking"   // being restored from its checkpoint
	InstanceAwake    InstanceStatus = "awake"    // handles signals
	InstanceDraining InstanceStatus = "draining" // handles its queued signals, then hibernates
)

// InstanceSource is where the instance that Start returns came from.
type InstanceSource string

// The sources.
const (
	SourceAwake  InstanceSource = "awake"  // it was awake already
	SourceThawed InstanceSource = "thawed" // from its checkpoint
	SourceFresh  InstanceSource = "fresh"  // there was no checkpoint
)

// Instance is the state of an instance, as its owner reports it.
type Instance struct {
	InstanceRef
	Partition   int
	Node        string // the owner of its partition
	Epoch       uint64 // …and the epoch of that ownership
	Status      InstanceStatus
	Source      InstanceSource // in Start's result
	Attachments int
	Mailbox     int    // number of calls that wait for it
	IdleAt      int64  // Unix ms: when it hibernates unless it is used; 0 means that no idle timeout runs
	Revision    uint64 // of its checkpoint; 0 without one
	Thread      string
	Rev         uint64 // of its thread
}

// StartInstance is the initial state of an instance without a checkpoint.
type StartInstance struct {
	InitialState JSON // nil means {}
}

// Attach keeps an instance awake for a caller.
type Attach struct {
	Attachment string        // id of the attachment; attaching twice under one id is one attachment; "" means a generated id
	TTL        time.Duration // the attachment expires unless it is touched within this time; 0 means the manager's
}

// Name sets the attachment's id from random text, if it has none.
func (a *Attach) Name(random string) {
	if a.Attachment == "" {
		a.Attachment = "att_" + strings.ToLower(random)
	}
}

// Attached is the result of Attach.
type Attached struct {
	Instance
	Attachment string
	ExpiresAt  int64 // Unix ms
}

// Signal is a request to an instance's handler. Its request id is that of the turn's
// commit: a signal that is sent again gets the first answer, and is not handled twice.
type Signal struct {
	Request Request
	Type    string
	Data    JSON // nil means {}
	Cast    bool // answered as soon as it is in the mailbox

	// Ack is the timer acknowledgement that the turn's commit includes. Nodes set it
	// for the signals of timers; it is nil otherwise.
	Ack *AckTimer
}

// Reply is the answer to a signal.
type Reply struct {
	Node     string
	Epoch    uint64
	Rev      uint64 // of the thread after the turn
	Revision uint64 // of the checkpoint after the turn
	Durable  bool   // false under DurabilityIdle and for a cast: a crash may lose the turn
	Data     JSON   // the handler's answer; nil if it gave none
}

// ManagerStats are the statistics of a manager's instances over all nodes.
type ManagerStats struct {
	Manager string
	Nodes   []NodeStats // in node order, including nodes that did not answer
}

// NodeStats are the statistics of a manager's instances on one node.
type NodeStats struct {
	Node        string
	Error       string // why the node did not answer; then the counts are unknown
	Awake       int
	Waking      int
	Draining    int
	Attachments int
	Signals     uint64 // handled since the node started
	Wakes       uint64
	Hibernated  uint64
	Failed      uint64   // hibernations that failed
	Crashed     uint64   // handlers that panicked or hung
	Keys        []string // of awake instances, at most ListLimitMax, in key order
}

// Instances is the contract of live instances. The owner's node, the router and the
// client implement it. Errors are *Error: unavailable and overloaded mean that the
// call was not handled, unknown that it may have been or may still be.
//
// All methods may be called concurrently.
type Instances interface {
	// Start returns the instance, awake. It wakes a dormant one and creates a missing
	// one. If the checkpoint cannot be restored, the error is thaw_failed and no
	// instance starts.
	Start(ctx context.Context, ref InstanceRef, start StartInstance) (Instance, error)

	// Lookup returns the instance without waking it. It is not_found if it is not
	// awake and has no checkpoint.
	Lookup(ctx context.Context, ref InstanceRef) (Instance, error)

	// Stop hibernates an instance and ends it; it returns once that is durable. An
	// instance that is not awake is not_found. An instance of an erased agent ends at
	// once and is not stored. See IfErased too.
	Stop(ctx context.Context, ref InstanceRef) error

	// Hibernate stores the instance now and removes it from memory.
	Hibernate(ctx context.Context, ref InstanceRef) error

	// Attach attaches to the instance, and starts it if it is not awake.
	Attach(ctx context.Context, ref InstanceRef, attach Attach) (Attached, error)

	// Detach ends an attachment; a missing one is not an error.
	Detach(ctx context.Context, ref InstanceRef, attachment string) error

	// Touch restarts the idle timer, and that of the attachment if one is named.
	Touch(ctx context.Context, ref InstanceRef, attachment string) error

	// Signal queues the signal and returns the handler's answer. It wakes a dormant
	// instance.
	Signal(ctx context.Context, ref InstanceRef, signal Signal) (Reply, error)

	// Stats returns the statistics of a manager's instances.
	Stats(ctx context.Context, scope, manager string) (ManagerStats, error)

	// Watch yields changes of instances from now on, each at most once. An event with
	// Missed marks where changes may be missing, as at the beginning; a slow consumer
	// misses changes. The watch ends without an error when ctx ends or the consumer
	// stops; an error is its last element.
	Watch(ctx context.Context, w InstanceWatch) iter.Seq2[InstanceEvent, error]
}

// instancePrefix begins the checkpoint keys of a manager's instances.
func instancePrefix(manager string) string {
	return instancesPrefix + url.PathEscape(manager) + "/"
}

// instancesPrefix begins the checkpoint keys of all instances.
const instancesPrefix = "instances/"

// InstanceWatch names the instances to watch.
type InstanceWatch struct {
	Scope   string // "" means DefaultScope
	Manager string
	Key     string // "" means all of the manager's instances
}

// InstanceEvent is one element of a watch of instances.
type InstanceEvent struct {
	// Missed means that changes before this event may be missing: those of Node, or of
	// all nodes if it is "". A consumer that keeps a list of instances must read it
	// again. Reason says why, in words. The first event of a watch has Missed set; the
	// other fields are then empty.
	Missed bool

	InstanceRef
	Node   string // the node that reports it: the owner at that time
	Epoch  uint64 // …of its ownership; never lower than in an earlier event of the same key
	Status InstanceStatus
	Reason string // one of the reasons
	At     int64  // Unix ms, by Node's clock
}

// The reasons for a change of status.
const (
	ReasonCalled   = "called"   // waking: a call needs it
	ReasonCrashed  = "crashed"  // waking: its handler panicked or hung, and it restarts; dormant: it restarts on the next call
	ReasonErased   = "erased"   // dormant: its agent was erased
	ReasonChanged  = "changed"  // waking: restored again, because its manager changed or its stored state may have
	ReasonThawed   = "thawed"   // awake: from its checkpoint
	ReasonFresh    = "fresh"    // awake: there was no checkpoint
	ReasonWanted   = "wanted"   // awake: a call arrived before it hibernated
	ReasonFailed   = "failed"   // awake: it could not be stored; dormant: it could not wake
	ReasonIdle     = "idle"     // draining, dormant: it was idle, or awake_max was reached
	ReasonManual   = "manual"   // draining, dormant: it was stopped
	ReasonShutdown = "shutdown" // draining, dormant: its node stops, or its partition moves
	ReasonMoved    = "moved"    // dormant here: the node lost its partition
)

// Validate validates a watch, and fills in the default scope.
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

// Validate validates a reference, and fills in the default scope.
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

// Validate validates the initial state, and compacts it.
func (s *StartInstance) Validate() error {
	if err := normalize("initial_state", &s.InitialState); err != nil {
		return err
	}
	if len(s.InitialState) > CheckpointBytesMax {
		return TooLarge("initial_state", "checkpoint_bytes_max", len(s.InitialState), CheckpointBytesMax)
	}
	return nil
}

// Validate validates an attachment.
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

// Validate validates a signal, and compacts its data.
func (s *Signal) Validate() error {
	if s.Type == "" {
		return Invalid("type", "type is missing: name the type of signal for the handler")
	}
	if err := firstOf(
		s.Request.validate(),
		validText("type", "kind_bytes_max", s.Type, KindBytesMax),
		normalize("data", &s.Data),
	); err != nil {
		return err
	}
	if len(s.Data) > SignalBytesMax {
		return TooLarge("data", "signal_bytes_max", len(s.Data), SignalBytesMax)
	}
	return nil
}

// Hash returns a hash that distinguishes validated signals sent under one request id.
// It includes the instance: an answer is valid only for the instance that gave it.
// Equal data with another key order has another hash.
func (s *Signal) Hash(to InstanceRef) uint64 {
	h := sha256.New()
	h.Write([]byte(s.Type))
	h.Write([]byte{0}) // no JSON begins with it
	if s.Data != nil {
		h.Write(s.Data)
	} else {
		h.Write(emptyObject)
	}
	h.Write([]byte{0}) // nor does JSON contain it
	h.Write([]byte(to.Checkpoint()))
	return binary.BigEndian.Uint64(h.Sum(nil))
}
