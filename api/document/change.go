package document

import (
	"dormouse/agent"
)

// Change is one change of a scope, with the revision field of its kind.
type Change struct {
	Index        uint64  `json:"index"`
	Ordinal      uint64  `json:"ordinal"`
	Time         int64   `json:"time"`
	Kind         string  `json:"kind"`
	Agent        string  `json:"agent,omitzero"`
	Conversation string  `json:"conversation,omitzero"`
	Manager      string  `json:"manager,omitzero"`
	Instance     string  `json:"instance,omitzero"`
	Key          string  `json:"key"`
	Rev          *uint64 `json:"rev,omitempty"`
	Epoch        *uint64 `json:"epoch,omitempty"`
	Revision     *uint64 `json:"revision,omitempty"`
	Deleted      bool    `json:"deleted,omitzero"`
	Status       string  `json:"status,omitzero"`
	Principal    string  `json:"principal,omitzero"`

	Body *WireFound `json:"body,omitempty" doc:"What was written, as its own call answers, if the watch includes bodies and nothing has replaced it"`
}

// ChangeOf returns the document of c.
func ChangeOf(c *agent.Changed) Change {
	out := Change{
		Index: c.Index, Ordinal: c.Ordinal, Time: c.Time, Kind: string(c.Kind), Agent: c.Agent, Key: c.Key,
		Conversation: c.Conversation, Manager: c.Manager, Instance: c.Instance,
		Deleted: c.Deleted, Status: c.Status, Principal: c.Principal,
	}
	switch {
	case c.Deleted || c.Kind == agent.ChangedReview || c.Kind == agent.ChangedScope:
	case c.Kind == agent.ChangedThread:
		out.Rev = &c.Revision
	case c.Kind == agent.ChangedClaim:
		out.Epoch = &c.Revision
	default:
		out.Revision = &c.Revision
	}
	out.Body = writtenOf(c.Body)
	return out
}

// writtenOf returns the document of the body of a change.
func writtenOf(body agent.Found) *WireFound {
	switch f := body.(type) {
	case *agent.Value:
		return &WireFound{ValueOf(f)}
	case *agent.Checkpoint:
		return &WireFound{CheckpointOf(f)}
	case *agent.Thread:
		return &WireFound{ThreadOf(*f)}
	case *agent.Memory:
		return &WireFound{MemoryOf(*f)}
	default:
		return nil
	}
}

// WatchEnd is the data of the event that ends a watch.
type WatchEnd struct {
	Floor *uint64 `json:"floor,omitempty"`
}
