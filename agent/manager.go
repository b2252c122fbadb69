package agent

import "time"

// Manager says how the instances of one kind are kept: by what handler, how
// long they stay awake, and what of them is stored. It belongs to a scope.
type Manager struct {
	Name         string
	Handler      Handler
	IdleTimeout  time.Duration // without an attachment for so long an instance hibernates; 0 means never
	Durability   Durability    // "" means DurabilityTurn
	Storage      Keeping       // "" means KeepCluster
	Version      uint64        // of the state that the handler understands; 0 means 1
	MailboxMax   int           // signals that wait for one instance; 0 means MailboxDefault
	AwakeMax     int           // instances awake on one node, past which the least recently used hibernate; 0 means no bound of its own
	SignalTTL    time.Duration // a handler is given so long for a signal; 0 means SignalTimeoutDefault
	AttachTTL    time.Duration // an attachment lapses after so long without a touch; 0 means AttachmentTTLDefault
	Track        bool          // each signal leaves instruction_start and instruction_end entries in the thread
	Untracked    bool          // …never; where neither is set: of a Go or HTTP handler, once the instance has a thread
	SkipsPersist []string      // top-level fields of the state that are not stored
	Schedules    JSON          // recurring jobs of each instance, {job: spec} as in a manifest: declared ones win over stored ones; nil means none
	Metadata     JSON

	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64 // Unix ms
}

// Handler names what handles an instance's signals.
type Handler struct {
	Kind HandlerKind
	Name string // HandlerGo: as the embedding program has registered it
	URL  string // HandlerHTTP: where signals are posted; its host must be in the node's allow-list
	Key  string // HandlerHTTP: which of the node's configured keys signs requests
}

// HandlerKind says where a handler runs.
type HandlerKind string

// The kinds of handlers.
const (
	HandlerDocument HandlerKind = "document" // built in: state and thread, driven by signals that patch and append
	HandlerGo       HandlerKind = "go"       // a Go type in the embedding program
	HandlerHTTP     HandlerKind = "http"     // an HTTP endpoint of the user's
)

// Durability says when a signal's effects are stored.
type Durability string

// The durabilities.
const (
	DurabilityTurn Durability = "turn" // before the reply, in one fenced commit a signal
	DurabilityIdle Durability = "idle" // at hibernation only; replies say so
)

// Keeping says where a manager's instances are stored.
type Keeping string

// Where instances are stored.
const (
	KeepCluster Keeping = "cluster"
	KeepNone    Keeping = "none" // nowhere: what an instance knew is gone when it stops
)

// PutManager writes a manager whole.
type PutManager struct {
	Manager    Manager // Incarnation, Revision and times are the store's
	IfRevision *uint64 // 0 means "must not exist"
}

// DeleteManager deletes a manager; a missing one is fine. What its instances
// have stored stays.
type DeleteManager struct {
	Name       string
	IfRevision *uint64
}

// Mailbox is how many signals wait for one instance at most.
func (m *Manager) Mailbox() int { return orDefault(m.MailboxMax, MailboxDefault) }

// Tracking tells whether signals are tracked. It is nil where the manager does not
// say and its handler is a Go or HTTP handler: they are once there is a thread.
func (m *Manager) Tracking() *bool {
	if !m.Track && !m.Untracked && m.Handler.Kind != HandlerDocument {
		return nil
	}
	return &m.Track
}

// SetTracking is its inverse.
func (m *Manager) SetTracking(track *bool) {
	m.Track, m.Untracked = track != nil && *track, track != nil && !*track
}

// SignalTimeout is how long a handler is given for a signal.
func (m *Manager) SignalTimeout() time.Duration { return orDefault(m.SignalTTL, SignalTimeoutDefault) }

// AttachmentTTL is after how long without a touch an attachment lapses.
func (m *Manager) AttachmentTTL() time.Duration { return orDefault(m.AttachTTL, AttachmentTTLDefault) }

// Size is what the manager counts for, in bytes, in its scope's quota.
func (m *Manager) Size() int {
	size := len(m.Handler.Kind) + len(m.Handler.Name) + len(m.Handler.URL) + len(m.Handler.Key) + len(m.Schedules) + len(m.Metadata)
	for _, field := range m.SkipsPersist {
		size += len(field)
	}
	return size
}

// orDefault is the number, or what 0 stands for.
func orDefault[N int | time.Duration](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}

// AnswerSignal records, in the commit of a turn, what is answered to the signal
// that caused it: the commit's answer then is the signal's, for whoever sends it
// again. It is the last op of its commit.
type AnswerSignal struct {
	Hash  uint64 // of the signal's type and data: another signal under the same request is idempotency_mismatch
	Reply JSON
}

func (*PutManager) isOp()    {}
func (*DeleteManager) isOp() {}
func (*AnswerSignal) isOp()  {}

// GetManager reads a manager.
type GetManager struct{ Name string }

// ListManagers lists managers in the order of their names.
type ListManagers struct{ Page }

// GetAnswer reads how a request was decided, which a retry of it would be told:
// not_found where it has not been as of the answer's index, request_expired
// where that is kept no more.
type GetAnswer struct {
	Client string
	Seq    uint64
}

func (*GetManager) isRead()   {}
func (*ListManagers) isRead() {}
func (*GetAnswer) isRead()    {}

// ManagerList answers ListManagers.
type ManagerList struct {
	Items []Manager
	Next  string
}

func (*Manager) isFound()     {}
func (*ManagerList) isFound() {}
func (*Decided) isFound()     {}

// ManagerResult answers PutManager.
type ManagerResult struct{ Manager Manager }

// SignalResult answers AnswerSignal.
type SignalResult struct {
	Hash  uint64
	Reply JSON
}

func (*ManagerResult) isOpResult() {}
func (*SignalResult) isOpResult()  {}
