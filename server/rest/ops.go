package rest

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"dormouse/agent"
)

// wireOp is one op of a commit as a caller writes it: its name in "op", and
// its members beside that.
type wireOp interface{ op() (agent.Op, error) }

// opName is the member that says which op it is.
type opName struct {
	Op string `json:"op"`
}

type putValueOp struct {
	opName
	Key           string   `json:"key"`
	ContentType   string   `json:"content_type,omitempty"`
	Bytes         []byte   `json:"bytes,omitempty"`
	Metadata      document `json:"metadata,omitempty" doc:"Keeps what the value has where absent"`
	TTLMS         uint64   `json:"ttl_ms,omitempty"`
	IfRevision    *uint64  `json:"if_revision,omitempty"`
	IfBytes       *[]byte  `json:"if_bytes,omitempty" doc:"Apply only where the stored bytes equal these"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

func (o *putValueOp) op() (agent.Op, error) {
	ttl, err := timed("ttl_ms", o.TTLMS)
	return &agent.PutValue{
		Key: o.Key, ContentType: o.ContentType, Bytes: o.Bytes, TTL: ttl, Metadata: agent.JSON(o.Metadata),
		IfRevision: o.IfRevision, IfBytes: o.IfBytes, IfIncarnation: o.IfIncarnation,
	}, err
}

type deleteValueOp struct {
	opName
	Key           string  `json:"key"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfBytes       *[]byte `json:"if_bytes,omitempty" doc:"Apply only where the stored bytes equal these"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteValueOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
	return &agent.DeleteValue{
		Key: o.Key, IfRevision: o.IfRevision, IfBytes: o.IfBytes, IfIncarnation: o.IfIncarnation, Seal: seal,
	}, err
}

type putCheckpointOp struct {
	opName
	Key string `json:"key"`
	checkpointBody
}

func (o *putCheckpointOp) op() (agent.Op, error) { return o.checkpointBody.ToOp(o.Key) }

type patchCheckpointOp struct {
	opName
	Key           string   `json:"key"`
	Patch         document `json:"patch"`
	IfRevision    *uint64  `json:"if_revision,omitempty"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

func (o *patchCheckpointOp) op() (agent.Op, error) {
	return &agent.PatchCheckpoint{Key: o.Key, Patch: agent.JSON(o.Patch), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation}, nil
}

type patchCronOp struct {
	opName
	Key           string   `json:"key"`
	Specs         document `json:"specs" doc:"{job: {cron_expression, message, timezone?, missed?, catch_up?}}, or null to cancel"`
	IfRevision    *uint64  `json:"if_revision,omitempty"`
	IfIncarnation uint64   `json:"if_incarnation,omitempty"`
}

func (o *patchCronOp) op() (agent.Op, error) {
	return &agent.PatchCron{Key: o.Key, Specs: agent.JSON(o.Specs), IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation}, nil
}

type deleteCheckpointOp struct {
	opName
	Key           string  `json:"key"`
	IfRevision    *uint64 `json:"if_revision,omitempty"`
	IfIncarnation uint64  `json:"if_incarnation,omitempty"`
	SealMS        uint64  `json:"seal_ms,omitempty"`
}

func (o *deleteCheckpointOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
	return &agent.DeleteCheckpoint{Key: o.Key, IfRevision: o.IfRevision, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

type appendThreadOp struct {
	opName
	Thread string `json:"thread"`
	appendBody
}

func (o *appendThreadOp) op() (agent.Op, error) { return o.appendBody.ToOp(o.Thread), nil }

type hibernateThreadOp struct {
	opName
	journalTail
	Thread        string `json:"thread"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
}

func (o *hibernateThreadOp) op() (agent.Op, error) {
	op, err := o.journalTail.op(o.Thread)
	op.IfIncarnation = o.IfIncarnation
	return op, err
}

type deleteThreadOp struct {
	opName
	Thread        string `json:"thread"`
	IfIncarnation uint64 `json:"if_incarnation,omitempty"`
	SealMS        uint64 `json:"seal_ms,omitempty"`
}

func (o *deleteThreadOp) op() (agent.Op, error) {
	seal, err := timed("seal_ms", o.SealMS)
	return &agent.DeleteThread{Thread: o.Thread, IfIncarnation: o.IfIncarnation, Seal: seal}, err
}

type compactThreadOp struct {
	opName
	Thread string `json:"thread"`
	compactBody
}

func (o *compactThreadOp) op() (agent.Op, error) { return o.compactBody.ToOp(o.Thread), nil }

type forkThreadOp struct {
	opName
	Thread string `json:"thread"`
	forkBody
}

func (o *forkThreadOp) op() (agent.Op, error) { return o.forkBody.ToOp(o.Thread), nil }

type putScopeOp struct {
	opName
	policyBody
}

func (o *putScopeOp) op() (agent.Op, error) { return &agent.PutScope{Policy: o.policy()}, nil }

type deleteScopeOp struct{ opName }

func (*deleteScopeOp) op() (agent.Op, error) { return &agent.DeleteScope{}, nil }

type takeClaimOp struct {
	opName
	Claim string `json:"claim"`
	takeBody
}

func (o *takeClaimOp) op() (agent.Op, error) { return o.takeBody.ToOp(o.Claim) }

type renewClaimOp struct {
	opName
	Claim string `json:"claim"`
	renewBody
}

func (o *renewClaimOp) op() (agent.Op, error) { return o.renewBody.ToOp(o.Claim) }

type releaseClaimOp struct {
	opName
	Claim string `json:"claim"`
	releaseBody
}

func (o *releaseClaimOp) op() (agent.Op, error) { return o.releaseBody.ToOp(o.Claim) }

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

// opTypes are the documents of all ops, by name.
func opTypes() map[string]reflect.Type { return typesOf(wireOps) }

// typesOf are the types of the documents of kinds.
func typesOf[K any](kinds map[string]func() K) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(kinds))
	for name, kind := range kinds {
		types[name] = reflect.TypeOf(kind())
	}
	return types
}

// opDocument is an op before its name is read.
type opDocument struct{ document }

// decodeOp reads one op.
func decodeOp(raw document) (agent.Op, error) {
	wire, err := decodeNamed(raw, "op", func(n opName) string { return n.Op }, wireOps)
	if err != nil {
		return nil, err
	}
	return wire.op()
}

// decodeNamed reads a document into what its name, the member under key, says.
func decodeNamed[N, T any](raw document, key string, name func(N) string, kinds map[string]func() T) (T, error) {
	var nothing T
	var named N
	if err := json.Unmarshal(raw, &named); err != nil {
		return nothing, invalidJSON(err, key)
	}
	empty, ok := kinds[name(named)]
	if !ok {
		known := strings.Join(slices.Sorted(maps.Keys(kinds)), ", ")
		return nothing, agent.Invalid(key, "%s is %q, and should be one of %s", key, name(named), known)
	}
	wire := empty()
	if err := decode(raw, wire, key); err != nil {
		return nothing, err
	}
	return wire, nil
}
