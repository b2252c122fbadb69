package rest

import (
	"reflect"

	"dormouse/agent"
)

// encoding says which document stands for the values of a type.
type encoding struct {
	of, document reflect.Type
	encode       func(value any) any
}

// encodes makes an encoding of a function.
func encodes[V, D any](encode func(V) D) encoding {
	return encoding{
		of: reflect.TypeFor[V](), document: reflect.TypeFor[D](),
		encode: func(value any) any { return encode(value.(V)) },
	}
}

// encodings are those of all types that a value can have.
type encodings []encoding

// documentOf returns the document that stands for a value.
func (all encodings) documentOf(value any) (any, error) {
	of := reflect.TypeOf(value)
	for i := range all {
		if all[i].of == of {
			return all[i].encode(value), nil
		}
	}
	return nil, agent.Errorf(agent.CodeInternal, "no document stands for a %T", value)
}

// documents returns the types of the documents, in order.
func (all encodings) documents() []reflect.Type {
	types := make([]reflect.Type, len(all))
	for i := range all {
		types[i] = all[i].document
	}
	return types
}

// results say which document stands for what an op results in.
var results = encodings{
	encodes(valueStampOf),
	encodes(checkpointStampOf),
	encodes(resultThreadOf),
	encodes(deletedOf),
	encodes(func(r *agent.ScopeResult) scope { return scopeOf(r.Scope) }),
	encodes(func(r *agent.ClaimResult) claim { return claimOf(r.Claim) }),
	encodes(turnedOf),
	encodes(func(r *agent.ReviewResult) review { return reviewOf(r.Review) }),
	encodes(memoryStampOf),
	encodes(forkedAgentOf),
	encodes(erasureOf),
	encodes(func(r *agent.TimerResult) timer { return timerOf(r.Timer) }),
	encodes(conversationChangeOf),
	encodes(messageUpdatedOf),
	encodes(func(r *agent.ManagerResult) manager { return managerOf(r.Manager) }),
}

// resultTypes are the documents of all results.
func resultTypes() []reflect.Type { return results.documents() }

// founds say which document stands for what a read finds.
var founds = encodings{
	encodes(valueOf),
	encodes(func(l *agent.ValueList) list[valueRow] { return listOf(l.Items, l.Next, valueRowOf) }),
	encodes(checkpointOf),
	encodes(func(l *agent.CheckpointList) list[checkpointRow] { return listOf(l.Items, l.Next, checkpointRowOf) }),
	encodes(func(t *agent.Thread) thread { return threadOf(*t) }),
	encodes(func(l *agent.ThreadList) list[thread] { return listOf(l.Items, l.Next, threadOf) }),
	encodes(entryPageOf),
	encodes(func(e *agent.Entry) entry { return entryOf(*e) }),
	encodes(verifiedOf),
	encodes(thawedOf),
	encodes(func(l *agent.ScopeList) list[scope] { return listOf(l.Items, l.Next, scopeOf) }),
	encodes(func(s *agent.Scope) scope { return scopeOf(*s) }),
	encodes(func(c *agent.Claim) claim { return claimOf(*c) }),
	encodes(func(l *agent.ClaimList) list[claim] { return listOf(l.Items, l.Next, claimOf) }),
	encodes(sessionOf),
	encodes(func(l *agent.SessionList) list[sessionRow] { return listOf(l.Items, l.Next, sessionRowOf) }),
	encodes(func(r *agent.Review) review { return reviewOf(*r) }),
	encodes(func(l *agent.ReviewList) list[review] { return listOf(l.Items, l.Next, reviewOf) }),
	encodes(func(m *agent.Memory) memory { return memoryOf(*m) }),
	encodes(func(l *agent.MemoryList) list[memory] { return listOf(l.Items, l.Next, memoryOf) }),
	encodes(recalledOf),
	encodes(erasureOf),
	encodes(func(t *agent.Timer) timer { return timerOf(*t) }),
	encodes(func(l *agent.TimerList) list[timer] { return listOf(l.Items, l.Next, timerOf) }),
	encodes(savedConversationOf),
	encodes(func(l *agent.ConversationList) list[conversationRow] {
		return listOf(l.Items, l.Next, conversationRowOf)
	}),
	encodes(messagePageOf),
	encodes(func(m *agent.Manager) manager { return managerOf(*m) }),
	encodes(func(l *agent.ManagerList) list[manager] { return listOf(l.Items, l.Next, managerOf) }),
}

// foundTypes are the documents of all that is found.
func foundTypes() []reflect.Type { return founds.documents() }
