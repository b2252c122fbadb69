package agent

import (
	"context"
	"crypto/sha256"
	"time"

	"dormouse/internal/retry"
)

// EraseAgent removes all data of an agent: checkpoint, revisions, memories,
// conversations with their messages, and sessions with their requests, snapshots,
// leases and reviews. It also removes the threads and checkpoints that its checkpoint
// and sessions name. Data that another agent's checkpoint uses stays, and is counted
// as kept. Entries that a fork shares stay with the fork. Values and callers' claims
// belong to no agent and stay.
//
// The erasure takes effect at once: after this commit none of that data can be read or
// written. Only threads and checkpoints that just a session names remain until they
// are removed with that session. Rows that do not fit one log entry are removed by
// later entries, EraseRowsMax at a time; then the Erasure is complete. If older
// conversations are not indexed yet, it completes after they are.
//
// If the agent is an instance, it ends: its timers and recurring jobs are removed, and
// no turn that began earlier is stored. Its owner drops it from memory before the
// Erasure is complete. Callers that wait for one of its turns get deleted. A later
// signal starts the instance again, without state.
//
// Erasing a missing agent succeeds. Erasing it again returns the earlier receipt.
type EraseAgent struct {
	Agent         string
	Seal          time.Duration // for how long writes to the agent are refused; 0 means that it can be created again at once
	IfRevision    *uint64       // of its checkpoint; 0 means "must not exist"
	IfIncarnation uint64
}

// Erasure is the receipt of an EraseAgent: the op's result, and what GetErasure reads.
// Its counts grow until it is complete.
type Erasure struct {
	Agent       string
	Index       uint64 // the log index at which it was erased
	ErasedAt    int64  // Unix ms
	CompletedAt int64  // Unix ms; 0 while rows are left to remove
	SealedUntil int64  // Unix ms; 0 if it is not sealed

	// Counts of removed rows.
	Checkpoints uint64
	Revisions   uint64 // of the checkpoints, the current ones included
	Threads     uint64
	Entries     uint64 // of the threads, including those that forks still share
	Memories    uint64
	Sessions    uint64
	Reviews     uint64
	Claims      uint64 // leases of the sessions
	Timers      uint64 // of an instance, including those of its recurring jobs
	Instances   uint64 // 1 if the agent is an instance, awake or dormant; more if it was started again before all rows were removed

	// Conversations is the number of removed conversations. It is nil if they were not
	// searched and stay, because a node of the cluster did not support it. Erase the
	// agent again then.
	Conversations *uint64

	// Ending is the log index of an erasure whose live instance its owner has not
	// ended yet; 0 if there is none. The receipt is not complete before that.
	Ending uint64

	Kept uint64 // threads and checkpoints that another agent also uses
	Hash Head   // over all that was removed, in order: see Witness
}

func (*Erasure) isOpResult() {}
func (*Erasure) isFound()    {}

// Complete reports whether all rows have been removed.
func (e Erasure) Complete() bool { return e.CompletedAt != 0 }

// Ending is an instance that its owner must end, because its agent was erased at a log
// index.
type Ending struct {
	InstanceRef
	Index uint64
}

// ifErasedKey is the key of IfErased in a context.
type ifErasedKey struct{}

// IfErased returns a context in which Instances.Stop ends the instance only if it is from before an
// erasure of its agent. Otherwise Stop is not_found, and changes nothing. An owner of a version that does
// not know this stops any instance.
func IfErased(ctx context.Context) context.Context {
	return context.WithValue(ctx, ifErasedKey{}, true)
}

// OnlyErased reports whether ctx is from IfErased.
func OnlyErased(ctx context.Context) bool {
	only, _ := ctx.Value(ifErasedKey{}).(bool)
	return only
}

// GetErasure reads the newest receipt of an agent. Receipts are kept for ErasureTTL or
// until the seal ends; without one the read is not_found.
type GetErasure struct{ Agent string }

func (*GetErasure) isRead() {}

// The first and the longest interval at which AwaitErasure polls.
const (
	erasureLookFirst = 2 * time.Millisecond
	erasureLookMost  = time.Second
)

// AwaitErasure waits until an erasure is complete. It calls look for the current
// receipt, at growing intervals, until one is complete, look fails, or ctx ends. It
// returns the last receipt also with an error: the agent is erased in any case, and
// only the progress of the removal is unknown.
func AwaitErasure(ctx context.Context, receipt *Erasure, look func(context.Context) (*Erasure, error)) (*Erasure, error) {
	for polls := retry.New(erasureLookFirst, erasureLookMost); !receipt.Complete(); {
		if !polls.Wait(ctx) {
			return receipt, Errorf(CodeUnavailable, "agent %q is erased, but not all rows were removed in time: read its receipt to see when they are", receipt.Agent)
		}
		now, err := look(ctx)
		if err != nil {
			return receipt, err
		}
		receipt = now
	}
	return receipt, nil
}

// WitnessErasure returns the initial hash of a receipt, over the scope, the agent, and
// the index and time of its erasure.
func WitnessErasure(scope, agent string, index uint64, at int64) Head {
	return Head{}.Witness("erase", scope, index, uint64(at)).Witness("agent", agent)
}

// Witness returns the hash after one more removed row: SHA-256 over h, kind and id,
// and the numbers. Kind and id are each preceded by their length as eight bytes,
// big-endian; each number is eight bytes. With a list of the removed rows, a reader
// can check the receipt.
func (h Head) Witness(kind, id string, numbers ...uint64) Head {
	digest := recordHash{sha256.New()}
	_, _ = digest.Write(h[:]) // a hash never fails
	digest.text(kind)
	digest.text(id)
	for _, n := range numbers {
		digest.number(n)
	}
	return Head(digest.Sum(nil))
}

func (o *EraseAgent) validateOp(t *tally) error {
	t.bytes += len(o.Agent)
	return firstOf(ValidID("agent", o.Agent), validSpan("seal", o.Seal, SealMax))
}
