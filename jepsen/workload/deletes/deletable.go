package deletes

import (
	"strings"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// deletable is a kind of object that can be deleted.
type deletable struct {
	prefix string // prefix of its keys
	put    func(key string, in deletePut) agent.Op
	delete func(key string, in deleteCall) agent.Op
	get    func(key string) agent.Read
}

var deletables = []deletable{
	{
		prefix: "checkpoint",
		put: func(key string, in deletePut) agent.Op {
			return &agent.PutCheckpoint{Key: key, State: workload.MarkOf(in.Name), IfIncarnation: in.Incarnation, IfRevision: in.absent()}
		},
		delete: func(key string, in deleteCall) agent.Op {
			return &agent.DeleteCheckpoint{Key: key, IfIncarnation: in.Incarnation, Seal: in.Seal}
		},
		get: func(key string) agent.Read { return &agent.GetCheckpoint{Key: key} },
	},
	{
		prefix: "thread",
		put: func(key string, in deletePut) agent.Op {
			return &agent.AppendThread{
				Thread: key, Entries: []agent.Draft{{Payload: workload.MarkOf(in.Name)}}, IfIncarnation: in.Incarnation, ExpectedRev: in.absent(),
			}
		},
		delete: func(key string, in deleteCall) agent.Op {
			return &agent.DeleteThread{Thread: key, IfIncarnation: in.Incarnation, Seal: in.Seal}
		},
		get: func(key string) agent.Read { return &agent.LoadEntries{Thread: key, Tail: 1} },
	},
	{
		prefix: "value",
		put: func(key string, in deletePut) agent.Op {
			return &agent.PutValue{Key: key, Bytes: workload.MarkOf(in.Name), IfIncarnation: in.Incarnation, IfRevision: in.absent()}
		},
		delete: func(key string, in deleteCall) agent.Op {
			return &agent.DeleteValue{Key: key, IfIncarnation: in.Incarnation, Seal: in.Seal}
		},
		get: func(key string) agent.Read { return &agent.GetValue{Key: key} },
	},
}

// deletableOf returns the kind of a key.
func deletableOf(key string) deletable {
	for _, kind := range deletables {
		if strings.HasPrefix(key, kind.prefix) {
			return kind
		}
	}
	panic("a key of no kind: " + key)
}

// absent returns the expectation of a write that must create: revision 0, or rev 0 of
// a thread. It returns nil for other writes.
func (in deletePut) absent() *uint64 {
	if !in.New {
		return nil
	}
	return new(uint64)
}

// read sets the fields of out from the result of a read.
func (out *deleteSeen) read(found agent.Found) error {
	switch found := found.(type) {
	case *agent.Checkpoint:
		out.Incarnation, out.Revision, out.Name = found.Incarnation, found.Revision, workload.NameIn(found.State)
	case *agent.Value:
		out.Incarnation, out.Revision, out.Name = found.Incarnation, found.Revision, workload.NameIn(found.Bytes)
	case *agent.Entries:
		out.Incarnation, out.Revision = found.Thread.Incarnation, found.Thread.Rev
		if len(found.Items) != 1 {
			return agent.Errorf(agent.CodeInternal, "a thread at rev %d has %d last entries", found.Thread.Rev, len(found.Items))
		}
		out.Name = workload.NameIn(found.Items[0].Payload)
	default:
		return agent.Errorf(agent.CodeInternal, "the answer is a %T", found)
	}
	return nil
}

// wrote sets the fields of out from the result of a write.
func (out *deleteSeen) wrote(result agent.OpResult) error {
	switch r := result.(type) {
	case *agent.CheckpointResult:
		out.Incarnation, out.Revision = r.Incarnation, r.Revision
	case *agent.ValueResult:
		out.Incarnation, out.Revision = r.Incarnation, r.Revision
	case *agent.ThreadResult:
		out.Incarnation, out.Revision = r.Thread.Incarnation, r.Thread.Rev
	case *agent.DeleteResult:
		if r.Existed {
			out.Incarnation = r.Incarnation
		}
		out.Untold = !workload.Told(r)
	default:
		return agent.Errorf(agent.CodeInternal, "the result is a %T", result)
	}
	return nil
}
