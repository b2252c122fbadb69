package agent

import (
	"fmt"
	"net/url"
	"time"
)

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

// managerOp judges an op on managers, or the answer to a signal.
func (t *tally) managerOp(op Op) error {
	switch o := op.(type) {
	case *PutManager:
		if err := o.Manager.settle(); err != nil {
			return within(err, "manager")
		}
		t.bytes += len(o.Manager.Name) + o.Manager.Size()
	case *DeleteManager:
		t.bytes += len(o.Name)
		return validManagerName("name", o.Name)
	case *AnswerSignal:
		if err := settle("reply", &o.Reply); err != nil {
			return err
		}
		if len(o.Reply) > SignalReplyBytesMax {
			return TooLarge("reply", "signal_reply_bytes_max", len(o.Reply), SignalReplyBytesMax)
		}
		t.bytes += len(o.Reply)
	}
	return nil
}

// settle judges a manager as its caller writes it, and fills in what its kind,
// version and keeping stand for.
func (m *Manager) settle() error {
	if m.Durability == "" {
		m.Durability = DurabilityTurn
	}
	if m.Storage == "" {
		m.Storage = KeepCluster
	}
	if m.Version == 0 {
		m.Version = 1
	}
	if m.Track && m.Untracked {
		return Invalid("track", "track and untracked exclude each other: set one")
	}
	if err := firstOf(
		validManagerName("name", m.Name),
		m.Handler.validate(),
		m.validLives(),
		m.validSkips(),
		settleSchedules(&m.Schedules),
		m.takesSchedules(),
		settleMetadata(&m.Metadata),
	); err != nil {
		return err
	}
	if m.Metadata == nil {
		m.Metadata = emptyObject
	}
	if size := m.Size(); size > MetadataBytesMax {
		return TooLarge("metadata", "metadata_bytes_max", size, MetadataBytesMax)
	}
	return nil
}

func validManagerName(field, name string) error {
	if len(name) > ManagerNameBytesMax {
		return TooLarge(field, "manager_name_bytes_max", len(name), ManagerNameBytesMax)
	}
	return ValidID(field, name)
}

func (h *Handler) validate() error {
	if err := firstOf(
		validText("handler.name", "id_bytes_max", h.Name, IDBytesMax),
		validText("handler.url", "handler_url_bytes_max", h.URL, HandlerURLBytesMax),
		validText("handler.key", "id_bytes_max", h.Key, IDBytesMax),
	); err != nil {
		return err
	}
	switch h.Kind {
	case HandlerDocument:
		if h.Name != "" || h.URL != "" || h.Key != "" {
			return Invalid("handler", "the document handler is built in: it takes no name, url or key")
		}
	case HandlerGo:
		if h.URL != "" || h.Key != "" {
			return Invalid("handler", "a go handler has no url or key: give the name that the program has registered")
		}
		return ValidID("handler.name", h.Name)
	case HandlerHTTP:
		if h.Name != "" {
			return Invalid("handler.name", "an http handler has no name: give its url")
		}
		return validHandlerURL(h.URL)
	default:
		return Invalid("handler.kind", "handler.kind = %q must be %s, %s or %s", h.Kind, HandlerDocument, HandlerGo, HandlerHTTP)
	}
	return nil
}

// validHandlerURL wants an address without secrets in it: keys are the nodes' to
// keep.
func validHandlerURL(text string) error {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return Invalid("handler.url", "handler.url is no URL: %v", err)
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return Invalid("handler.url", "handler.url = %q must be http://host/path or https://host/path", text)
	case address.User != nil || address.Fragment != "":
		return Invalid("handler.url", "handler.url must hold neither a user nor a fragment: requests are signed with handler.key")
	}
	return nil
}

// validLives judges how long, how many and how durable.
func (m *Manager) validLives() error {
	switch {
	case m.Durability != DurabilityTurn && m.Durability != DurabilityIdle:
		return Invalid("durability", "durability = %q must be %s or %s", m.Durability, DurabilityTurn, DurabilityIdle)
	case m.Storage != KeepCluster && m.Storage != KeepNone:
		return Invalid("storage", "storage = %q must be %s or %s", m.Storage, KeepCluster, KeepNone)
	case m.MailboxMax < 0 || m.MailboxMax > MailboxMost:
		return Invalid("mailbox_max", "mailbox_max = %d must be from 1 to %d, or 0 for %d", m.MailboxMax, MailboxMost, MailboxDefault)
	case m.AwakeMax < 0 || m.AwakeMax > AwakeMost:
		return Invalid("awake_max", "awake_max = %d must be from 1 to %d, or 0 for no bound of its own", m.AwakeMax, AwakeMost)
	case m.AttachTTL != 0 && (m.AttachTTL < AttachmentTTLMin || m.AttachTTL > AttachmentTTLMax):
		return Invalid("attach_ttl", "attach_ttl = %v must be from %v to %v", m.AttachTTL, AttachmentTTLMin, AttachmentTTLMax)
	}
	return firstOf(validSpan("idle_timeout", m.IdleTimeout, TTLMax), validSpan("signal_ttl", m.SignalTTL, SignalTimeoutMax))
}

func (m *Manager) validSkips() error {
	if len(m.SkipsPersist) > ManagerSkipsMax {
		return TooLarge("skips_persist", "manager_skips_max", len(m.SkipsPersist), ManagerSkipsMax)
	}
	for i, field := range m.SkipsPersist {
		name := fmt.Sprintf("skips_persist[%d]", i)
		if field == "" {
			return Invalid(name, "%s is empty: name a field of the state", name)
		}
		if err := validText(name, "id_bytes_max", field, IDBytesMax); err != nil {
			return err
		}
	}
	return nil
}
