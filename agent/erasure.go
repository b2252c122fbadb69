package agent

import (
	"context"
	"crypto/sha256"
	"time"
)

// EraseAgent removes an agent everywhere: its checkpoint with all revisions,
// the threads that these point to, what it remembers, its sessions with their
// requests, snapshots, leases and reviews, the threads and checkpoints that the
// sessions name, and the conversations that name it, with what is pending and
// their messages. What another agent's checkpoint uses too stays, and is counted
// as kept; what a fork shares stays with the fork. Values and claims that callers
// took belong to no agent and stay.
//
// It holds at once: from this commit on nothing of checkpoint, history, their
// threads, memories, sessions, reviews, leases and conversations can be read or
// written any more, however many they are. What is too much for one log entry is
// cleared away by the entries after it, EraseRowsMax rows at a time, and with
// each session the thread and the checkpoint that it alone names: only once the
// Erasure is complete have those gone too. Where conversations from before there
// was an index of them are not in it yet, it is not complete before they are.
//
// An agent that is an instance is ended: its timers and recurring jobs are
// removed, no turn that began before is stored any more, and its owner drops it
// from memory before the Erasure is complete. Whoever waits for one of its turns
// is told deleted. A signal from then on starts the instance anew, without state.
//
// An agent that is not there is fine; one erased before answers with the
// receipt of that time.
type EraseAgent struct {
	Agent         string
	Seal          time.Duration // nothing is written to the agent for so long; 0 means that it may begin anew
	IfRevision    *uint64       // of its checkpoint; 0 means "must not exist"
	IfIncarnation uint64
}

func (*EraseAgent) isOp() {}

// Erasure is the receipt of an EraseAgent, as an op's result and as what
// GetErasure reads. Its counts grow until it is complete.
type Erasure struct {
	Agent       string
	Index       uint64 // the log index at which it was erased
	ErasedAt    int64  // Unix ms
	CompletedAt int64  // Unix ms; 0 while something is left to clear away
	SealedUntil int64  // Unix ms; 0 where it is not sealed

	// What was removed.
	Checkpoints uint64
	Revisions   uint64 // of the checkpoints, the current ones included
	Threads     uint64
	Entries     uint64 // of the threads, those included that forks go on sharing
	Memories    uint64
	Sessions    uint64
	Reviews     uint64
	Claims      uint64 // leases of the sessions
	Timers      uint64 // of an instance, those of its recurring jobs included
	Instances   uint64 // 1 where the agent is an instance, awake or dormant; more where it began anew before all was cleared away

	// Conversations that were removed; nil where they were not looked for, and
	// stay: not all nodes of the cluster could. Erase the agent again then.
	Conversations *uint64

	// Ending is the log index of an erasure whose live instance its owner has yet
	// to end; 0 where there is none. The receipt is not complete before that.
	Ending uint64

	Kept uint64 // threads and checkpoints that another agent uses too
	Hash Head   // over all that was removed, in order: see Witness
}

func (*Erasure) isOpResult() {}
func (*Erasure) isFound()    {}

// Complete tells whether all has been cleared away.
func (e Erasure) Complete() bool { return e.CompletedAt != 0 }

// Ending is an instance that is to be ended where it is live, since its agent was
// erased at a log index.
type Ending struct {
	InstanceRef
	Index uint64
}

// GetErasure reads the newest receipt of an agent, for as long as ErasureTTL
// or its seal; not_found where there is none.
type GetErasure struct{ Agent string }

func (*GetErasure) isRead() {}

// How often AwaitErasure looks.
const (
	erasureLookFirst = 2 * time.Millisecond
	erasureLookMost  = time.Second
)

// AwaitErasure waits until all of an agent that was erased has been cleared away:
// it calls look for the receipt as it stands, more and more seldom, until one is
// complete, look fails, or ctx ends. The last receipt is returned with the error
// too, since the agent is erased all the same: only how far the clearing away is,
// is not known then.
func AwaitErasure(ctx context.Context, receipt *Erasure, look func(context.Context) (*Erasure, error)) (*Erasure, error) {
	for wait := erasureLookFirst; !receipt.Complete(); wait = min(2*wait, erasureLookMost) {
		timer := time.NewTimer(wait) //nolint:forbidigo // callers wait here, outside the state machine
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return receipt, Errorf(CodeUnavailable, "agent %q is erased, but not all of it was cleared away in time: its receipt tells when", receipt.Agent)
		}
		now, err := look(ctx)
		if err != nil {
			return receipt, err
		}
		receipt = now
	}
	return receipt, nil
}

// WitnessErasure begins the hash of a receipt: with the scope, the agent, and
// the index and the time of its erasure.
func WitnessErasure(scope, agent string, index uint64, at int64) Head {
	return Head{}.Witness("erase", scope, index, uint64(at)).Witness("agent", agent)
}

// Witness is the hash with one more removed thing in it: SHA-256 over h, then
// its kind and id, each led by its length as eight bytes, big-endian, then the
// numbers as eight bytes each. So whoever has a list of what was removed can
// tell whether the receipt is of that.
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

func (t *tally) eraseAgent(o *EraseAgent) error {
	t.bytes += len(o.Agent)
	return firstOf(ValidID("agent", o.Agent), validSpan("seal", o.Seal, SealMax))
}
