package document

import (
	"reflect"

	"dormouse/agent"
)

// wireOp is one op of a commit in a request: its name in "op", and its members next to
// it.
type wireOp interface{ op() (agent.Op, error) }

// opName is the member that names the op.
type opName struct {
	Op string `json:"op"`
}

// wireOps are the ops by name.
var wireOps = map[string]func() wireOp{
	"put_value":          func() wireOp { return new(putValueOp) },
	"delete_value":       func() wireOp { return new(deleteValueOp) },
	"put_checkpoint":     func() wireOp { return new(putCheckpointOp) },
	"patch_checkpoint":   func() wireOp { return new(patchCheckpointOp) },
	"delete_checkpoint":  func() wireOp { return new(deleteCheckpointOp) },
	"append_thread":      func() wireOp { return new(appendThreadOp) },
	"hibernate_thread":   func() wireOp { return new(hibernateThreadOp) },
	"delete_thread":      func() wireOp { return new(deleteThreadOp) },
	"compact_thread":     func() wireOp { return new(compactThreadOp) },
	"fork_thread":        func() wireOp { return new(forkThreadOp) },
	"put_scope":          func() wireOp { return new(putScopeOp) },
	"delete_scope":       func() wireOp { return new(deleteScopeOp) },
	"take_claim":         func() wireOp { return new(takeClaimOp) },
	"renew_claim":        func() wireOp { return new(renewClaimOp) },
	"release_claim":      func() wireOp { return new(releaseClaimOp) },
	"put_session":        func() wireOp { return new(putSessionOp) },
	"claim_session":      func() wireOp { return new(claimSessionOp) },
	"resume_session":     func() wireOp { return new(resumeSessionOp) },
	"recover_session":    func() wireOp { return new(recoverSessionOp) },
	"checkpoint_session": func() wireOp { return new(checkpointSessionOp) },
	"commit_session":     func() wireOp { return new(commitSessionOp) },
	"renew_session":      func() wireOp { return new(renewSessionOp) },
	"cancel_session":     func() wireOp { return new(cancelSessionOp) },
	"fork_session":       func() wireOp { return new(forkSessionOp) },
	"delete_session":     func() wireOp { return new(deleteSessionOp) },
	"decide_review":      func() wireOp { return new(decideReviewOp) },
	"write_memory":       func() wireOp { return new(writeMemoryOp) },
	"put_manager":        func() wireOp { return new(putManagerOp) },
	"delete_manager":     func() wireOp { return new(deleteManagerOp) },
	"delete_memory":      func() wireOp { return new(deleteMemoryOp) },
	"put_timer":          func() wireOp { return new(putTimerOp) },
	"delete_timer":       func() wireOp { return new(deleteTimerOp) },
	"ack_timer":          func() wireOp { return new(ackTimerOp) },
	"patch_cron":         func() wireOp { return new(patchCronOp) },

	"save_conversation":   func() wireOp { return new(saveConversationOp) },
	"set_interrupted":     func() wireOp { return new(setInterruptedOp) },
	"pend_message":        func() wireOp { return new(pendMessageOp) },
	"save_messages":       func() wireOp { return new(saveMessagesOp) },
	"update_message":      func() wireOp { return new(updateMessageOp) },
	"delete_conversation": func() wireOp { return new(deleteConversationOp) },
	"revise_value":        func() wireOp { return new(reviseValueOp) },
	"fork_agent":          func() wireOp { return new(forkAgentOp) },
	"erase_agent":         func() wireOp { return new(eraseAgentOp) },
	"set_ttl":             func() wireOp { return new(setTTLOp) },
	"put_token":           func() wireOp { return new(putTokenOp) },
	"revoke_token":        func() wireOp { return new(revokeTokenOp) },
}

// OpTypes returns the types of the documents of all ops, by name.
func OpTypes() map[string]reflect.Type { return typesOf(wireOps) }

// typesOf returns the types of the documents of kinds.
func typesOf[K any](kinds map[string]func() K) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(kinds))
	for name, kind := range kinds {
		types[name] = reflect.TypeOf(kind())
	}
	return types
}

// OpDocument is an op before its name is read.
type OpDocument struct{ JSON }

// DecodeOp decodes one op.
func DecodeOp(raw JSON) (agent.Op, error) {
	wire, err := decodeNamed(raw, "op", func(n opName) string { return n.Op }, wireOps)
	if err != nil {
		return nil, err
	}
	return wire.op()
}
