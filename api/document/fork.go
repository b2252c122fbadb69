package document

import (
	"errors"
	"strings"

	"dormouse/agent"
)

// ErrorOf returns the error of a commit of ops with the names of their documents: the id of the fork of a thread or of
// a session is the member id, and not new_thread or new_session.
func ErrorOf(ops []agent.Op, err error) error {
	var e *agent.Error
	if !errors.As(err, &e) || e.Op < 0 || e.Op >= len(ops) {
		return err
	}
	name := ""
	switch ops[e.Op].(type) {
	case *agent.ForkThread:
		name = "new_thread"
	case *agent.ForkSession:
		name = "new_session"
	}
	if name == "" || e.Field != name {
		return err
	}
	named := *e
	named.Field = "id"
	if rest, begins := strings.CutPrefix(e.Detail, name+" "); begins {
		named.Detail = "id " + rest
	}
	return &named
}

var forkOps = map[string]func() wireOp{
	"fork_agent": func() wireOp { return new(forkAgentOp) },
}

// ForkAgentBody names the new ids of a forked agent, and what to copy.
type ForkAgentBody struct {
	NewAgent      string  `json:"new_agent" doc:"Its key, which must be unused"`
	NewThread     string  `json:"new_thread,omitempty" doc:"Its thread's id; new_agent if absent"`
	Revision      uint64  `json:"revision,omitempty" doc:"Of the checkpoint: a kept revision; 0 means the current one"`
	WithoutMemory bool    `json:"without_memory,omitempty" doc:"If false, the agent's memories are copied, at most 4,096"`
	Session       string  `json:"session,omitempty" doc:"A session of the agent to copy, which must not be running"`
	NewSession    string  `json:"new_session,omitempty" doc:"Its id in the fork"`
	IfRevision    *uint64 `json:"if_revision,omitempty" doc:"Apply only at this revision of the checkpoint"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
}

// ToOp returns the op that the body asks for.
func (b *ForkAgentBody) ToOp(key string) *agent.ForkAgent {
	return &agent.ForkAgent{
		Agent: key, NewAgent: b.NewAgent, NewThread: b.NewThread, Revision: b.Revision, WithoutMemory: b.WithoutMemory,
		Session: b.Session, NewSession: b.NewSession, IfRevision: b.IfRevision, IfIncarnation: b.IfIncarnation,
	}
}

// ForkedAgent is the result of a fork of an agent.
type ForkedAgent struct {
	Checkpoint CheckpointStamp `json:"checkpoint"`
	Thread     *Thread         `json:"thread" doc:"null if the agent has none"`
	Session    *SessionRow     `json:"session,omitempty"`
	Memories   uint64          `json:"memories" doc:"Number of copied memories"`
}

// ForkedAgentOf returns the document of r.
func ForkedAgentOf(r *agent.ForkedAgent) ForkedAgent {
	out := ForkedAgent{Checkpoint: CheckpointStampOf(&r.Checkpoint), Memories: r.Memories}
	if r.Thread != nil {
		t := ThreadOf(*r.Thread)
		out.Thread = &t
	}
	if r.Session != nil {
		s := SessionRowOf(*r.Session)
		out.Session = &s
	}
	return out
}

type forkAgentOp struct {
	opName
	Agent string `json:"agent"`
	ForkAgentBody
}

func (o *forkAgentOp) op() (agent.Op, error) { return o.ToOp(o.Agent), nil }
