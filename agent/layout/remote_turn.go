package layout

import (
	"context"

	"dormouse/agent"
)

// RemoteTurnsLevel is the feature level from which the owner of an instance may
// lack its Go handler, so leases with different handlers are compatible. A host
// that can send remote turns reports at least this level.
const RemoteTurnsLevel = 5

// RemoteTurn is a turn that the owner of an instance sends to a process with
// the Go handler that the owner lacks. That process migrates and restores the
// state and handles the signal, if there is one. It stores nothing.
type RemoteTurn struct {
	agent.InstanceRef
	Handler   string        // the name in the manager
	Version   uint64        // of the manager
	Storage   agent.Keeping // of the manager's instances
	Schedules agent.JSON    // the jobs that the manager declares; nil for none
	State     agent.JSON
	Cron      agent.JSON // the manifest of the instance's own jobs; nil if it has none
	From      uint64     // the version of State
	Run       string     // the id of the instance's run
	Rev       uint64     // of its thread
	Revision  uint64     // of its checkpoint; 0 if it has none
	Signal    *agent.Signal
}

// RemoteTurnResult is the result of a remote turn.
type RemoteTurnResult struct {
	State   agent.JSON // after the turn, at the turn's Version
	Durable bool       // it must be stored before the reply
	Entries []agent.Draft
	Ops     []agent.Op
	Jobs    []agent.JSON // patches of the manifest, in order
	Reply   agent.JSON
	Refusal *agent.Error // of the handler, or of its result; the other fields are empty
	Crashed bool         // the handler panicked or did not return; Refusal is set
}

// RemoteHandlers handles remote turns. An error means that no process handled
// the turn, or that the outcome is unknown. Since a remote turn stores nothing,
// the caller may then use another process. Methods may be called concurrently.
type RemoteHandlers interface {
	Handle(ctx context.Context, e RemoteTurn) (RemoteTurnResult, error)
}

// HandlerNames returns the names, as in leases, of the handlers that can handle
// the turn.
func (e *RemoteTurn) HandlerNames() [2]string {
	return [2]string{HandlerVersion(e.Handler, e.Version), HandlerVersion(e.Handler, 0)}
}
