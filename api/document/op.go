package document

import (
	"reflect"

	"dormouse/agent"
)

// wireOp is one op of a commit as a caller writes it: its name in "op", and
// its members beside that.
type wireOp interface{ op() (agent.Op, error) }

// opName is the member that says which op it is.
type opName struct {
	Op string `json:"op"`
}

// newOp makes an empty op.
func newOp[T any, P interface {
	*T
	wireOp
}]() wireOp {
	return P(new(T))
}

// wireOps are the ops by name.
var wireOps = map[string]func() wireOp{
	"put_value":          newOp[putValueOp],
	"delete_value":       newOp[deleteValueOp],
	"put_checkpoint":     newOp[putCheckpointOp],
	"patch_checkpoint":   newOp[patchCheckpointOp],
	"delete_checkpoint":  newOp[deleteCheckpointOp],
	"append_thread":      newOp[appendThreadOp],
	"hibernate_thread":   newOp[hibernateThreadOp],
	"delete_thread":      newOp[deleteThreadOp],
	"compact_thread":     newOp[compactThreadOp],
	"fork_thread":        newOp[forkThreadOp],
	"put_scope":          newOp[putScopeOp],
	"delete_scope":       newOp[deleteScopeOp],
	"take_claim":         newOp[takeClaimOp],
	"renew_claim":        newOp[renewClaimOp],
	"release_claim":      newOp[releaseClaimOp],
	"put_session":        newOp[putSessionOp],
	"claim_session":      newOp[claimSessionOp],
	"resume_session":     newOp[resumeSessionOp],
	"recover_session":    newOp[recoverSessionOp],
	"checkpoint_session": newOp[checkpointSessionOp],
	"commit_session":     newOp[commitSessionOp],
	"renew_session":      newOp[renewSessionOp],
	"cancel_session":     newOp[cancelSessionOp],
	"fork_session":       newOp[forkSessionOp],
	"delete_session":     newOp[deleteSessionOp],
	"decide_review":      newOp[decideReviewOp],
	"write_memory":       newOp[writeMemoryOp],
	"put_manager":        newOp[putManagerOp],
	"delete_manager":     newOp[deleteManagerOp],
	"delete_memory":      newOp[deleteMemoryOp],
	"put_timer":          newOp[putTimerOp],
	"delete_timer":       newOp[deleteTimerOp],
	"ack_timer":          newOp[ackTimerOp],
	"patch_cron":         newOp[patchCronOp],

	"save_conversation":   newOp[saveConversationOp],
	"set_interrupted":     newOp[setInterruptedOp],
	"pend_message":        newOp[pendMessageOp],
	"save_messages":       newOp[saveMessagesOp],
	"update_message":      newOp[updateMessageOp],
	"delete_conversation": newOp[deleteConversationOp],
	"revise_value":        newOp[reviseValueOp],
	"fork_agent":          newOp[forkAgentOp],
	"erase_agent":         newOp[eraseAgentOp],
	"set_ttl":             newOp[setTTLOp],
}

// OpTypes returns the types of the documents of all ops, by name.
func OpTypes() map[string]reflect.Type { return typesOf(wireOps) }

// typesOf are the types of the documents of kinds.
func typesOf[K any](kinds map[string]func() K) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(kinds))
	for name, kind := range kinds {
		types[name] = reflect.TypeOf(kind())
	}
	return types
}

// OpDocument is an op before its name is read.
type OpDocument struct{ JSON }

// DecodeOp reads one op.
func DecodeOp(raw JSON) (agent.Op, error) {
	wire, err := decodeNamed(raw, "op", func(n opName) string { return n.Op }, wireOps)
	if err != nil {
		return nil, err
	}
	return wire.op()
}
