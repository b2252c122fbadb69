package document

import (
	"time"

	"dormouse/agent"
)

var managerOps = map[string]func() wireOp{
	"put_manager":    func() wireOp { return new(putManagerOp) },
	"delete_manager": func() wireOp { return new(deleteManagerOp) },
}

// handler names the handler of an instance's signals.
type handler struct {
	Kind agent.HandlerKind `json:"kind" enum:"document,go,http"`
	Name string            `json:"name,omitempty" doc:"go: the name under which the embedding program registered it"`
	URL  string            `json:"url,omitempty" doc:"http: the URL to post signals to; its host must be in the nodes' instances.http_allow"`
	Key  string            `json:"key,omitempty" doc:"http: the configured key of the nodes that signs requests"`
}

// ManagerBody is a manager in a request.
type ManagerBody struct {
	Handler       handler          `json:"handler"`
	IdleTimeoutMS uint64           `json:"idle_timeout_ms,omitempty" doc:"An instance hibernates after this long without a signal or attachment; 0 means never"`
	Durability    agent.Durability `json:"durability,omitempty" enum:"turn,idle" doc:"When a signal's effects are stored: before its reply, or at hibernation only; turn if absent"`
	Storage       agent.Keeping    `json:"storage,omitempty" enum:"cluster,none" doc:"cluster if absent"`
	Version       uint64           `json:"version,omitempty" doc:"Of the state that the handler expects; 1 if absent"`
	MailboxMax    uint64           `json:"mailbox_max,omitempty" doc:"Queued signals of one instance; 64 if absent"`
	AwakeMax      uint64           `json:"awake_max,omitempty" doc:"Instances awake on one node, past which the least recently used hibernate; no limit per manager if absent"`
	SignalTTLMS   uint64           `json:"signal_ttl_ms,omitempty" doc:"Maximum time for handling one signal; 30,000 if absent"`
	AttachTTLMS   uint64           `json:"attach_ttl_ms,omitempty" doc:"An attachment expires after this long without a touch; 60,000 if absent"`
	Track         *bool            `json:"track,omitempty" doc:"Each signal adds an instruction_start and an instruction_end entry to the thread, the latter with the status ok or error; if absent, signals of a Go or HTTP handler do once the instance has a thread"`
	SkipsPersist  []string         `json:"skips_persist,omitempty" doc:"Top-level fields of the state that are not stored"`
	Schedules     JSON             `json:"schedules,omitempty" doc:"Recurring jobs of each instance, set when it wakes; they replace jobs of the same id in its checkpoint"`
	Metadata      JSON             `json:"metadata,omitempty"`
	IfRevision    *uint64          `json:"if_revision,omitempty" doc:"Apply only at this revision; 0 means that it must not exist"`
}

// ToOp returns the op that the body asks for.
func (b *ManagerBody) ToOp(name string) (*agent.PutManager, error) {
	m := agent.Manager{
		Name:       name,
		Handler:    agent.Handler{Kind: b.Handler.Kind, Name: b.Handler.Name, URL: b.Handler.URL, Key: b.Handler.Key},
		Durability: b.Durability, Storage: b.Storage, Version: b.Version,
		MailboxMax: int(min(b.MailboxMax, agent.MailboxMost+1)), AwakeMax: int(min(b.AwakeMax, agent.AwakeMost+1)),
		SkipsPersist: b.SkipsPersist, Metadata: agent.JSON(b.Metadata), Schedules: agent.JSON(b.Schedules),
	}
	m.SetTracking(b.Track)
	for _, span := range []struct {
		field string
		ms    uint64
		into  *time.Duration
	}{
		{"idle_timeout_ms", b.IdleTimeoutMS, &m.IdleTimeout}, {"signal_ttl_ms", b.SignalTTLMS, &m.SignalTTL}, {"attach_ttl_ms", b.AttachTTLMS, &m.AttachTTL},
	} {
		var err error
		if *span.into, err = Duration(span.field, span.ms); err != nil {
			return nil, err
		}
	}
	return &agent.PutManager{Manager: m, IfRevision: b.IfRevision}, nil
}

// Manager is a stored manager.
type Manager struct {
	Name          string           `json:"name"`
	Handler       handler          `json:"handler"`
	IdleTimeoutMS int64            `json:"idle_timeout_ms"`
	Durability    agent.Durability `json:"durability"`
	Storage       agent.Keeping    `json:"storage"`
	Version       uint64           `json:"version"`
	MailboxMax    int              `json:"mailbox_max"`
	AwakeMax      int              `json:"awake_max,omitzero"`
	SignalTTLMS   int64            `json:"signal_ttl_ms"`
	AttachTTLMS   int64            `json:"attach_ttl_ms"`
	Track         *bool            `json:"track" doc:"null: once the instance has a thread"`
	SkipsPersist  []string         `json:"skips_persist,omitempty"`
	Schedules     JSON             `json:"schedules,omitempty"`
	Metadata      JSON             `json:"metadata"`
	Incarnation   uint64           `json:"incarnation"`
	Revision      uint64           `json:"revision"`
	CreatedAt     int64            `json:"created_at"`
	UpdatedAt     int64            `json:"updated_at"`
}

// ManagerOf returns the document of m.
func ManagerOf(m agent.Manager) Manager {
	metadata := JSON(m.Metadata)
	if metadata == nil {
		metadata = JSON("{}")
	}
	return Manager{
		Name: m.Name, Handler: handler{Kind: m.Handler.Kind, Name: m.Handler.Name, URL: m.Handler.URL, Key: m.Handler.Key},
		IdleTimeoutMS: m.IdleTimeout.Milliseconds(), Durability: m.Durability, Storage: m.Storage, Version: m.Version,
		MailboxMax: m.Mailbox(), AwakeMax: m.AwakeMax, SignalTTLMS: m.SignalTimeout().Milliseconds(), AttachTTLMS: m.AttachmentTTL().Milliseconds(),
		Track: m.Tracking(), SkipsPersist: m.SkipsPersist, Metadata: metadata,
		Schedules:   JSON(m.Schedules),
		Incarnation: m.Incarnation, Revision: m.Revision, CreatedAt: m.CreatedAt, UpdatedAt: m.UpdatedAt,
	}
}

type putManagerOp struct {
	opName
	Name string `json:"name"`
	ManagerBody
}

func (o *putManagerOp) op() (agent.Op, error) { return o.ToOp(o.Name) }

type deleteManagerOp struct {
	opName
	Name       string  `json:"name"`
	IfRevision *uint64 `json:"if_revision,omitempty"`
}

func (o *deleteManagerOp) op() (agent.Op, error) {
	return &agent.DeleteManager{Name: o.Name, IfRevision: o.IfRevision}, nil
}

type getManagerRead struct {
	readName
	Name string `json:"name"`
}

func (r getManagerRead) read() agent.Read { return &agent.GetManager{Name: r.Name} }

type listManagersRead struct{ orderedRead }

func (r listManagersRead) read() agent.Read { return &agent.ListManagers{Page: r.page()} }
