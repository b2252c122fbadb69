package agent

import (
	"fmt"
	"net/url"
	"time"
)

// Manager configures the instances of one kind: their handler, how long they stay
// awake, and what is stored of them. It belongs to a scope.
type Manager struct {
	Name         string
	Handler      Handler
	IdleTimeout  time.Duration // an instance hibernates after this long without a signal or attachment; 0 means never
	Durability   Durability    // "" means DurabilityTurn
	Storage      Keeping       // "" means KeepCluster
	Version      uint64        // of the state that the handler expects; 0 means 1
	MailboxMax   int           // queued signals of one instance; 0 means MailboxDefault
	AwakeMax     int           // instances awake on one node, past which the least recently used hibernate; 0 means no limit per manager
	SignalTTL    time.Duration // maximum time for handling one signal; 0 means SignalTimeoutDefault
	AttachTTL    time.Duration // an attachment expires after this long without a touch; 0 means AttachmentTTLDefault
	Track        bool          // each signal adds instruction_start and instruction_end entries to the thread
	Untracked    bool          // …never; if neither is set, signals of a Go or HTTP handler are tracked once the instance has a thread
	SkipsPersist []string      // top-level fields of the state that are not stored
	Schedules    JSON          // recurring jobs of each instance, {job: spec} as in a manifest: these replace stored jobs of the same id; nil means none
	Metadata     JSON

	Incarnation          uint64
	Revision             uint64
	CreatedAt, UpdatedAt int64 // Unix ms
}

// Handler names the handler of an instance's signals.
type Handler struct {
	Kind HandlerKind
	Name string // HandlerGo: the name under which the embedding program registered it
	URL  string // HandlerHTTP: the URL to post signals to; its host must be in the node's allow-list
	Key  string // HandlerHTTP: the configured key of the node that signs requests
}

// HandlerKind is the kind of a handler.
type HandlerKind string

// The kinds of handlers.
const (
	HandlerDocument HandlerKind = "document" // built in: state and thread, changed by patch and append signals
	HandlerGo       HandlerKind = "go"       // a Go type in the embedding program
	HandlerHTTP     HandlerKind = "http"     // the user's HTTP endpoint
)

// Durability is when a signal's effects are stored.
type Durability string

// The durabilities.
const (
	DurabilityTurn Durability = "turn" // before the reply, in one fenced commit for each signal
	DurabilityIdle Durability = "idle" // at hibernation only; replies say that they are not durable
)

// Keeping is where a manager's instances are stored.
type Keeping string

// Where instances are stored.
const (
	KeepCluster Keeping = "cluster"
	KeepNone    Keeping = "none" // nowhere: an instance's state is lost when it stops
)

// PutManager writes a whole manager.
type PutManager struct {
	Manager    Manager // Incarnation, Revision and times are set by the store
	IfRevision *uint64 // 0 means "must not exist"
}

// DeleteManager deletes a manager; deleting a missing manager succeeds. The stored
// data of its instances stays.
type DeleteManager struct {
	Name       string
	IfRevision *uint64
}

// Mailbox returns the maximum number of queued signals of one instance.
func (m *Manager) Mailbox() int { return orDefault(m.MailboxMax, MailboxDefault) }

// Tracking reports whether signals are tracked. It returns nil if the manager does not
// set it and has a Go or HTTP handler. Signals are then tracked once the instance has
// a thread.
func (m *Manager) Tracking() *bool {
	if !m.Track && !m.Untracked && m.Handler.Kind != HandlerDocument {
		return nil
	}
	return &m.Track
}

// SetTracking is the inverse of Tracking.
func (m *Manager) SetTracking(track *bool) {
	m.Track, m.Untracked = track != nil && *track, track != nil && !*track
}

// SignalTimeout returns the maximum time for handling one signal.
func (m *Manager) SignalTimeout() time.Duration { return orDefault(m.SignalTTL, SignalTimeoutDefault) }

// AttachmentTTL returns how long an attachment stays without a touch.
func (m *Manager) AttachmentTTL() time.Duration { return orDefault(m.AttachTTL, AttachmentTTLDefault) }

// Size returns the bytes that the manager adds to its scope's usage.
func (m *Manager) Size() int {
	size := len(m.Handler.Kind) + len(m.Handler.Name) + len(m.Handler.URL) + len(m.Handler.Key) + len(m.Schedules) + len(m.Metadata)
	for _, field := range m.SkipsPersist {
		size += len(field)
	}
	return size
}

// orDefault returns n, or otherwise if n is 0.
func orDefault[N int | time.Duration](n, otherwise N) N {
	if n == 0 {
		return otherwise
	}
	return n
}

// AnswerSignal records in a turn's commit the answer to the signal that caused it. The
// commit's stored answer is then also the signal's, if it is sent again. It must be
// the last op of its commit.
type AnswerSignal struct {
	Hash  uint64 // of the signal's type and data: another signal with the same request id is idempotency_mismatch
	Reply JSON
}

// GetManager reads a manager.
type GetManager struct{ Name string }

// ListManagers lists managers in name order.
type ListManagers struct{ Page }

// GetAnswer reads the stored answer of a request, which a retry of it would get. It is
// not_found if the request was not decided at the answer's index, and request_expired
// if the answer is no longer kept.
type GetAnswer struct {
	Client string
	Seq    uint64
}

func (*GetManager) isRead()   {}
func (*ListManagers) isRead() {}
func (*GetAnswer) isRead()    {}

// ManagerList is the result of ListManagers.
type ManagerList struct {
	Items []Manager
	Next  string
}

func (*Manager) isFound()     {}
func (*ManagerList) isFound() {}
func (*Decided) isFound()     {}

// ManagerResult is the result of PutManager.
type ManagerResult struct{ Manager Manager }

// SignalResult is the result of AnswerSignal.
type SignalResult struct {
	Hash  uint64
	Reply JSON
}

func (*ManagerResult) isOpResult() {}
func (*SignalResult) isOpResult()  {}

func (o *PutManager) validateOp(t *tally) error {
	if err := o.Manager.normalize(); err != nil {
		return within(err, "manager")
	}
	t.bytes += len(o.Manager.Name) + o.Manager.Size()
	return nil
}

func (o *DeleteManager) validateOp(t *tally) error {
	t.bytes += len(o.Name)
	return validManagerName("name", o.Name)
}

func (o *AnswerSignal) validateOp(t *tally) error {
	if err := normalize("reply", &o.Reply); err != nil {
		return err
	}
	if len(o.Reply) > SignalReplyBytesMax {
		return TooLarge("reply", "signal_reply_bytes_max", len(o.Reply), SignalReplyBytesMax)
	}
	t.bytes += len(o.Reply)
	return nil
}

// normalize validates a manager and fills in its defaults.
func (m *Manager) normalize() error {
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
		normalizeSchedules(&m.Schedules),
		m.takesSchedules(),
		normalizeMetadata(&m.Metadata),
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

// validHandlerURL returns an error if an address is invalid or contains a secret:
// nodes keep the keys.
func validHandlerURL(text string) error {
	address, err := url.Parse(text)
	switch {
	case err != nil:
		return Invalid("handler.url", "handler.url is not a URL: %v", err)
	case address.Scheme != "http" && address.Scheme != "https", address.Host == "":
		return Invalid("handler.url", "handler.url = %q must be http://host/path or https://host/path", text)
	case address.User != nil || address.Fragment != "":
		return Invalid("handler.url", "handler.url must hold neither a user nor a fragment: requests are signed with handler.key")
	}
	return nil
}

// validLives validates durability, limits and timeouts.
func (m *Manager) validLives() error {
	switch {
	case m.Durability != DurabilityTurn && m.Durability != DurabilityIdle:
		return Invalid("durability", "durability = %q must be %s or %s", m.Durability, DurabilityTurn, DurabilityIdle)
	case m.Storage != KeepCluster && m.Storage != KeepNone:
		return Invalid("storage", "storage = %q must be %s or %s", m.Storage, KeepCluster, KeepNone)
	case m.MailboxMax < 0 || m.MailboxMax > MailboxMost:
		return Invalid("mailbox_max", "mailbox_max = %d must be from 1 to %d, or 0 for %d", m.MailboxMax, MailboxMost, MailboxDefault)
	case m.AwakeMax < 0 || m.AwakeMax > AwakeMost:
		return Invalid("awake_max", "awake_max = %d must be from 1 to %d, or 0 for no limit per manager", m.AwakeMax, AwakeMost)
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
