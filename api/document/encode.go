package document

import (
	"reflect"

	"dormouse/agent"
)

// encoding converts the values of one type to their document.
type encoding struct {
	of, document reflect.Type
	encode       func(value any) any
}

// encodes returns the encoding that a function implements.
func encodes[V, D any](encode func(V) D) encoding {
	return encoding{
		of: reflect.TypeFor[V](), document: reflect.TypeFor[D](),
		encode: func(value any) any { return encode(value.(V)) },
	}
}

// encodings are the encodings of a set of types.
type encodings []encoding

// documentOf returns the document of a value.
func (all encodings) documentOf(value any) (any, error) {
	of := reflect.TypeOf(value)
	for i := range all {
		if all[i].of == of {
			return all[i].encode(value), nil
		}
	}
	return nil, agent.Errorf(agent.CodeInternal, "a %T has no document", value)
}

// documents returns the types of the documents, in order.
func (all encodings) documents() []reflect.Type {
	types := make([]reflect.Type, len(all))
	for i := range all {
		types[i] = all[i].document
	}
	return types
}

// results are the encodings of the results of ops.
var results = encodings{
	encodes(ValueStampOf),
	encodes(CheckpointStampOf),
	encodes(resultThreadOf),
	encodes(DeletedOf),
	encodes(func(r *agent.ScopeResult) Scope { return ScopeOf(r.Scope) }),
	encodes(func(r *agent.ClaimResult) Claim { return ClaimOf(r.Claim) }),
	encodes(TurnedOf),
	encodes(func(r *agent.ReviewResult) Review { return ReviewOf(r.Review) }),
	encodes(MemoryStampOf),
	encodes(ForkedAgentOf),
	encodes(ErasureOf),
	encodes(func(r *agent.TokenResult) Token { return TokenOf(r.Token) }),
	encodes(func(r *agent.TimerResult) Timer { return TimerOf(r.Timer) }),
	encodes(ConversationChangeOf),
	encodes(messageUpdatedOf),
	encodes(func(r *agent.ManagerResult) Manager { return ManagerOf(r.Manager) }),
}

// ResultTypes returns the types of the documents of all results.
func ResultTypes() []reflect.Type { return results.documents() }

// founds are the encodings of the values that reads find.
var founds = encodings{
	encodes(ValueOf),
	encodes(func(l *agent.ValueList) List[ValueRow] { return ListOf(l.Items, l.Next, ValueRowOf) }),
	encodes(CheckpointOf),
	encodes(func(l *agent.CheckpointList) List[CheckpointRow] { return ListOf(l.Items, l.Next, CheckpointRowOf) }),
	encodes(func(t *agent.Thread) Thread { return ThreadOf(*t) }),
	encodes(func(l *agent.ThreadList) List[Thread] { return ListOf(l.Items, l.Next, ThreadOf) }),
	encodes(EntryPageOf),
	encodes(func(e *agent.Entry) Entry { return EntryOf(*e) }),
	encodes(VerifiedOf),
	encodes(ThawedOf),
	encodes(func(l *agent.ScopeList) List[Scope] { return ListOf(l.Items, l.Next, ScopeOf) }),
	encodes(func(s *agent.Scope) Scope { return ScopeOf(*s) }),
	encodes(func(c *agent.Claim) Claim { return ClaimOf(*c) }),
	encodes(func(l *agent.ClaimList) List[Claim] { return ListOf(l.Items, l.Next, ClaimOf) }),
	encodes(SessionOf),
	encodes(func(l *agent.SessionList) List[SessionRow] { return ListOf(l.Items, l.Next, SessionRowOf) }),
	encodes(func(r *agent.Review) Review { return ReviewOf(*r) }),
	encodes(func(l *agent.ReviewList) List[Review] { return ListOf(l.Items, l.Next, ReviewOf) }),
	encodes(func(m *agent.Memory) Memory { return MemoryOf(*m) }),
	encodes(func(l *agent.MemoryList) List[Memory] { return ListOf(l.Items, l.Next, MemoryOf) }),
	encodes(RecalledOf),
	encodes(ErasureOf),
	encodes(func(t *agent.Timer) Timer { return TimerOf(*t) }),
	encodes(func(t *agent.Token) Token { return TokenOf(*t) }),
	encodes(func(l *agent.TokenList) List[Token] { return ListOf(l.Items, l.Next, TokenOf) }),
	encodes(func(l *agent.TimerList) List[Timer] { return ListOf(l.Items, l.Next, TimerOf) }),
	encodes(SavedConversationOf),
	encodes(func(l *agent.ConversationList) List[ConversationRow] {
		return ListOf(l.Items, l.Next, ConversationRowOf)
	}),
	encodes(MessagePageOf),
	encodes(func(m *agent.Manager) Manager { return ManagerOf(*m) }),
	encodes(func(l *agent.ManagerList) List[Manager] { return ListOf(l.Items, l.Next, ManagerOf) }),
}

// FoundTypes returns the types of the documents of all that reads find.
func FoundTypes() []reflect.Type { return founds.documents() }
