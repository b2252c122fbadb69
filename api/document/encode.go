package document

import (
	"reflect"

	"dormouse/agent"
)

// encoding converts the values of one type to their document.
type encoding struct {
	of, document reflect.Type
	encode       func(value any) any
	named        []string // the ops or reads that have such a result
}

// encodes returns the encoding that a function implements, of the results of the ops or reads
// with these names.
func encodes[V, D any](encode func(V) D, named ...string) encoding {
	return encoding{
		of: reflect.TypeFor[V](), document: reflect.TypeFor[D](),
		encode: func(value any) any { return encode(value.(V)) },
		named:  named,
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

// byName returns the types of the documents that each op or read may have.
func (all encodings) byName() map[string][]reflect.Type {
	types := map[string][]reflect.Type{}
	for i := range all {
		for _, name := range all[i].named {
			types[name] = append(types[name], all[i].document)
		}
	}
	return types
}

// results are the encodings of the results of ops.
var results = encodings{
	encodes(ValueStampOf, "put_value", "revise_value"),
	encodes(CheckpointStampOf, "put_checkpoint", "patch_checkpoint", "patch_cron"),
	encodes(resultThreadOf, "append_thread", "hibernate_thread", "compact_thread", "fork_thread", "set_ttl"),
	encodes(DeletedOf, "delete_checkpoint", "delete_conversation", "delete_manager", "delete_memory", "delete_scope", "delete_session",
		"delete_thread", "delete_timer", "delete_value", "revoke_token"),
	encodes(func(r *agent.ScopeResult) Scope { return ScopeOf(r.Scope) }, "put_scope", "index_metadata"),
	encodes(func(r *agent.ClaimResult) Claim { return ClaimOf(r.Claim) }, "take_claim", "renew_claim", "release_claim"),
	encodes(TurnedOf, "put_session", "claim_session", "resume_session", "recover_session", "checkpoint_session", "commit_session",
		"renew_session", "cancel_session", "fork_session", "set_ttl"),
	encodes(func(r *agent.ReviewResult) Review { return ReviewOf(r.Review) }, "decide_review"),
	encodes(MemoryStampOf, "write_memory"),
	encodes(ForkedAgentOf, "fork_agent"),
	encodes(ErasureOf, "erase_agent"),
	encodes(func(d *agent.PrefixDeletion) PrefixDeletion { return PrefixDeletionOf(*d) }, "delete_prefix"),
	encodes(func(r *agent.TokenResult) Token { return TokenOf(r.Token) }, "put_token"),
	encodes(func(r *agent.TimerResult) Timer { return TimerOf(r.Timer) }, "put_timer", "ack_timer"),
	encodes(ConversationChangeOf, "save_conversation", "set_interrupted", "pend_message", "save_messages", "set_ttl"),
	encodes(messageUpdatedOf, "update_message"),
	encodes(func(r *agent.ManagerResult) Manager { return ManagerOf(r.Manager) }, "put_manager"),
}

// ResultTypes returns the types of the documents that the result of each op may have. Only a
// set_ttl has several: that of the noun that it names.
func ResultTypes() map[string][]reflect.Type { return results.byName() }

// founds are the encodings of the values that reads find.
var founds = encodings{
	encodes(ValueOf, "get_value"),
	encodes(func(l *agent.ValueList) List[ValueRow] { return ListOf(l.Items, l.Next, ValueRowOf) }, "list_values"),
	encodes(CheckpointOf, "get_checkpoint"),
	encodes(func(l *agent.CheckpointList) List[CheckpointRow] { return ListOf(l.Items, l.Next, CheckpointRowOf) },
		"list_checkpoints", "checkpoint_history"),
	encodes(func(t *agent.Thread) Thread { return ThreadOf(*t) }, "get_thread"),
	encodes(func(l *agent.ThreadList) List[Thread] { return ListOf(l.Items, l.Next, ThreadOf) }, "list_threads"),
	encodes(EntryPageOf, "load_entries"),
	encodes(func(e *agent.Entry) Entry { return EntryOf(*e) }, "get_entry"),
	encodes(VerifiedOf, "verify_thread"),
	encodes(ThawedOf, "thaw"),
	encodes(func(l *agent.ScopeList) List[Scope] { return ListOf(l.Items, l.Next, ScopeOf) }, "list_scopes"),
	encodes(func(s *agent.Scope) Scope { return ScopeOf(*s) }, "get_scope"),
	encodes(func(c *agent.Claim) Claim { return ClaimOf(*c) }, "get_claim"),
	encodes(func(l *agent.ClaimList) List[Claim] { return ListOf(l.Items, l.Next, ClaimOf) }, "list_claims"),
	encodes(SessionOf, "get_session"),
	encodes(func(l *agent.SessionList) List[SessionRow] { return ListOf(l.Items, l.Next, SessionRowOf) }, "list_sessions"),
	encodes(func(r *agent.Review) Review { return ReviewOf(*r) }, "get_review"),
	encodes(func(l *agent.ReviewList) List[Review] { return ListOf(l.Items, l.Next, ReviewOf) }, "list_reviews"),
	encodes(func(m *agent.Memory) Memory { return MemoryOf(*m) }, "get_memory"),
	encodes(func(l *agent.MemoryList) List[Memory] { return ListOf(l.Items, l.Next, MemoryOf) }, "list_memories"),
	encodes(RecalledOf, "recall"),
	encodes(ErasureOf, "get_erasure"),
	encodes(func(d *agent.PrefixDeletion) PrefixDeletion { return PrefixDeletionOf(*d) }, "get_deletion"),
	encodes(func(l *agent.DeletionList) List[PrefixDeletion] { return ListOf(l.Items, l.Next, PrefixDeletionOf) }, "list_deletions"),
	encodes(func(t *agent.Timer) Timer { return TimerOf(*t) }, "get_timer"),
	encodes(func(t *agent.Token) Token { return TokenOf(*t) }, "get_token"),
	encodes(func(l *agent.TokenList) List[Token] { return ListOf(l.Items, l.Next, TokenOf) }, "list_tokens"),
	encodes(func(l *agent.TimerList) List[Timer] { return ListOf(l.Items, l.Next, TimerOf) }, "list_timers"),
	encodes(SavedConversationOf, "get_conversation"),
	encodes(func(l *agent.ConversationList) List[ConversationRow] {
		return ListOf(l.Items, l.Next, ConversationRowOf)
	}, "list_conversations"),
	encodes(MessagePageOf, "list_messages"),
	encodes(func(m *agent.Manager) Manager { return ManagerOf(*m) }, "get_manager"),
	encodes(func(l *agent.ManagerList) List[Manager] { return ListOf(l.Items, l.Next, ManagerOf) }, "list_managers"),
}

// FoundTypes returns the types of the documents that each read finds.
func FoundTypes() map[string][]reflect.Type { return founds.byName() }
