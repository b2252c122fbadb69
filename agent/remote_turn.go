package agent

import "context"

// RemoteTurnsLevel is the feature level from which on an instance's owner may lack
// its handler, so that leases of different handlers go together; and what a host
// says of itself that can send errands.
const RemoteTurnsLevel = 5

// RemoteTurn is what the owner of an instance has another process do, which has the
// Go handler that the owner lacks: migrate and restore the state, and handle a
// signal, if there is one. Nothing of it is stored by who does it.
type RemoteTurn struct {
	InstanceRef
	Handler   string  // the name that the manager gives
	Version   uint64  // the manager's
	Storage   Keeping // …and where its instances are stored
	Schedules JSON    // …and the jobs that it declares; nil for none
	State     JSON
	Cron      JSON   // the manifest of the instance's own jobs; nil where it has none
	From      uint64 // the version that State is of
	Run       string // the awakening of the instance
	Rev       uint64 // its thread's
	Revision  uint64 // its checkpoint's; 0 where there is none
	Signal    *Signal
}

// RemoteTurnResult is what came of an errand.
type RemoteTurnResult struct {
	State   JSON // as it is to be; of the errand's version
	Durable bool // it is to be stored before the reply
	Entries []Draft
	Ops     []Op
	Jobs    []JSON // patches of the manifest, in order
	Reply   JSON
	Refusal *Error // the handler's, or about what it did: all else is empty
	Crashed bool   // …it panicked, or hangs
}

// RemoteHandlers does errands. An error says that there was nobody to do one, or that
// nobody knows whether it was done: since nothing came of it, another process may
// be asked. Methods may be called concurrently.
type RemoteHandlers interface {
	Handle(ctx context.Context, e RemoteTurn) (RemoteTurnResult, error)
}

// HandlerNames are the handlers, as leases name them, that can do the errand.
func (e *RemoteTurn) HandlerNames() [2]string {
	return [2]string{HandlerVersion(e.Handler, e.Version), HandlerVersion(e.Handler, 0)}
}
