package instance

import (
	"context"
	"time"

	"go.opentelemetry.io/otel/trace"

	"dormouse/agent"
)

// instance is one key of a manager, in memory. It has a goroutine only while
// its mailbox is not empty.
//
// Most instances are idle, so fields that only few of them need are in
// body.extra.
type instance struct {
	manager   *managerState
	key       string
	partition int
	epoch     uint64

	// Guarded by shared.mu.
	removed     error // why it was removed from all tables; nil while it is in them
	working     bool
	stopping    bool // a stop request is being processed; later calls queue behind it
	hibernating bool // a hibernation without a caller is queued or in progress
	usedSince   bool // used since that began, so it stays awake
	status      agent.InstanceStatus
	source      agent.InstanceSource
	mailbox     []*call
	attachments []attachment
	usedAt      time.Duration // the host's time of the last signal, start, touch or detach
	due         duePosition
	counted     countedStatus
	idle        idleLinks
	cancel      context.CancelCauseFunc // ends the context of the current call

	// Written under shared.mu by the worker, which reads it without.
	stored stored

	// Accessed by the worker only.
	body body
	span trace.Span // of the call that it handles; nil means none
}

// stored is the version of an instance in its store.
type stored struct {
	revision          uint64 // of the checkpoint; 0 if it has none
	incarnation       uint64
	rev               uint64 // of the thread
	threadIncarnation uint64 // 0 if it has no thread
	index             uint64 // at which the store had this version
	since             uint64 // an erasure at a later index erased this version
}

// body is the state of an awake instance.
type body struct {
	awake    bool          // the instance is awake, and the other fields are valid
	version  int           // managerState.version when it woke
	service  agent.Service // where it is stored; nil means nowhere
	state    agent.JSON
	stateAt  uint64     // the manager's version that state has
	metadata agent.JSON // of its checkpoint, if any
	initial  agent.JSON // the initial state, until something is stored
	extra    *extra
}

// extra has the fields that only some instances need.
type extra struct {
	run      string // the client of the host's own requests in this run
	seq      uint64 // of the last of these requests
	handler  Handler
	dirty    bool          // something is not saved yet
	pending  []agent.Draft // entries that are not saved yet
	bytes    int           // size of pending
	recent   []recentReply // the last replies that are not stored
	crashes  int           // consecutive crashes
	resumeAt time.Duration // the host's time of the next start after a crash
	cron     agent.JSON    // the manifest of its recurring jobs; nil if it has none
}

// ensureExtra returns the instance's extra fields, and allocates them if they
// are nil.
func (i *instance) ensureExtra() *extra {
	if i.body.extra == nil {
		i.body.extra = &extra{}
	}
	return i.body.extra
}

// dirty reports whether the instance has state that is not stored yet.
func (i *instance) dirty() bool {
	return i.body.awake && (i.stored.revision == 0 || i.hasUnsaved())
}

// hasUnsaved reports whether turns have changed what is not stored yet.
func (i *instance) hasUnsaved() bool { return i.body.extra != nil && i.body.extra.dirty }

func (i *instance) ref() agent.InstanceRef {
	return agent.InstanceRef{Scope: i.manager.scope, Manager: i.manager.name, Key: i.key}
}
