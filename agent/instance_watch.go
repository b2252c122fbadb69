package agent

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
