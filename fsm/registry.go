package fsm

import (
	"fmt"
	"reflect"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/conversation"
	"dormouse/fsm/erasure"
	"dormouse/fsm/kv"
	"dormouse/fsm/manager"
	"dormouse/fsm/memory"
	"dormouse/fsm/session"
	"dormouse/fsm/thread"
	"dormouse/fsm/timer"
	"dormouse/fsm/token"
	"dormouse/fsm/txn"
	"dormouse/fsm/value"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
)

// runOp runs one op of a commit. alone reports that it is the commit's only op.
type runOp func(c machineCommit, op agent.Op, alone bool) (agent.OpResult, error)

// opRuns holds how each op of the contract runs.
var opRuns = func() map[reflect.Type]runOp {
	all := map[reflect.Type]runOp{}
	for _, one := range []registered[runOp]{
		op(value.Put), op(value.Delete), op(value.Revise),
		op(checkpoint.Put), op(checkpoint.Patch), op(checkpoint.Delete), op(timer.PatchCron),
		op(thread.Append), op(thread.Hibernate), op(thread.Delete), op(thread.Compact), op(thread.Fork),
		op(putScope), machineOp(machineCommit.importScope), machineOp(machineCommit.deleteScope),
		op(memory.Write), op(memory.Delete),
		op(claim.Take), op(claim.Renew), op(claim.Release),
		op(manager.Put), op(manager.Delete), op(manager.AnswerSignal),
		op(session.Put), op(session.Claim), op(session.Resume), op(session.Recover), op(session.Checkpoint), op(session.Commit), op(session.Renew),
		op(session.Cancel), op(session.Fork), op(session.Delete), op(session.DecideReview),
		op(forkAgent), op(erasure.EraseAgent), op(setTTL),
		op(conversation.Save), op(conversation.SetInterrupted), op(conversation.PendMessage), op(conversation.SaveMessages), op(conversation.UpdateMessage), op(conversation.Delete),
		op(token.Put), op(token.Revoke),
		op(timer.Put), op(timer.Delete), op(timer.Ack), op(timer.Fail),
	} {
		all[one.of] = one.run
	}
	return all
}()

// registered is a function for values of a type.
type registered[F any] struct {
	of  reflect.Type
	run F
}

func op[T agent.Op](run func(*txn.Tx, T) (agent.OpResult, error)) registered[runOp] {
	return registered[runOp]{reflect.TypeFor[T](), func(c machineCommit, op agent.Op, _ bool) (agent.OpResult, error) {
		return run(c.Tx, op.(T)) //nolint:forcetypeassert // the registry's key
	}}
}

// machineOp registers an op that must be its commit's only one, or that changes the machine's
// in-memory state.
func machineOp[T agent.Op](run func(machineCommit, T, bool) (agent.OpResult, error)) registered[runOp] {
	return registered[runOp]{reflect.TypeFor[T](), func(c machineCommit, op agent.Op, alone bool) (agent.OpResult, error) {
		return run(c, op.(T), alone) //nolint:forcetypeassert // the registry's key
	}}
}

// runLogOp runs one op of a log entry. alone reports that it is its commit's only one.
func runLogOp(c machineCommit, p *oppb.Op, alone bool) (agent.OpResult, error) {
	decoded, err := command.DecodeOp(p)
	if err != nil {
		return nil, err
	}
	if err := validScope(c.Tx); err != nil {
		return nil, err
	}
	run := opRuns[reflect.TypeOf(decoded)]
	if run == nil {
		return nil, fmt.Errorf("op of type %T is unknown to this version", decoded)
	}
	return run(c, decoded, alone)
}

// runClusterOp runs one op that only nodes send.
func runClusterOp(c machineCommit, p *logpb.ClusterOp) (agent.OpResult, error) {
	switch p := p.Op.(type) {
	case *logpb.ClusterOp_PutMember:
		return c.putMember(p.PutMember)
	case *logpb.ClusterOp_RemoveMember:
		return c.removeMember(p.RemoveMember)
	case *logpb.ClusterOp_SetFeatureLevel:
		return c.setFeatureLevel(p.SetFeatureLevel)
	case *logpb.ClusterOp_RenewNodeLease:
		return c.renewNodeLease(p.RenewNodeLease)
	case *logpb.ClusterOp_EndNodeLease:
		return c.endNodeLease(p.EndNodeLease)
	case *logpb.ClusterOp_MovePartitions:
		return c.movePartitions(p.MovePartitions)
	case *logpb.ClusterOp_EndInstance:
		return erasure.EndInstance(c.Tx, p.EndInstance)
	default:
		return nil, fmt.Errorf("cluster op of type %T is unknown to this version", p)
	}
}

// runRead answers one read.
type runRead func(r txn.Reader, q agent.Read) (agent.Found, error)

// readRuns holds how each read of the contract is answered.
var readRuns = func() map[reflect.Type]runRead {
	all := map[reflect.Type]runRead{}
	for _, one := range []registered[runRead]{
		read(value.Get), read(value.List),
		read(checkpoint.Get), read(checkpoint.List), read(checkpoint.History),
		read(thread.Get), read(thread.List), read(thread.LoadEntries), read(thread.GetEntry), read(thread.Verify), read(readThaw),
		read(readScopes), read(readScope),
		read(memory.Get), read(memory.List), read(memory.Recall),
		read(claim.Get), read(claim.List),
		read(manager.Get), read(manager.List), read(readAnswer),
		read(session.Get), read(session.List), read(session.GetReview), read(session.ListReviews),
		read(conversation.Get), read(conversation.List), read(conversation.ListMessages),
		read(token.Get), read(token.List),
		read(timer.Get), read(timer.List), read(erasure.Get),
	} {
		all[one.of] = one.run
	}
	return all
}()

func read[T agent.Read](run func(txn.Reader, T) (agent.Found, error)) registered[runRead] {
	return registered[runRead]{reflect.TypeFor[T](), func(r txn.Reader, q agent.Read) (agent.Found, error) {
		return run(r, q.(T)) //nolint:forcetypeassert // the registry's key
	}}
}

func answerRead(r txn.Reader, q agent.Read) (agent.Found, error) {
	run := readRuns[reflect.TypeOf(q)]
	if run == nil {
		return nil, agent.Invalid("reads", "read of type %T is unknown to this node", q)
	}
	return run(r, q)
}

// expiry removes the row of a wall queue entry if it is due at when. cost is the work beyond that
// of one row, counted against the entry's limit.
type expiry func(c *txn.Tx, row, id string, when int64) (cost int, err error)

// expiries holds how rows expire, by kind.
var expiries = func() map[string]expiry {
	all := map[string]expiry{
		kv.KindValue:        expire(value.Expire),
		kv.KindCheckpoint:   expire(checkpoint.Expire),
		kv.KindThread:       expire(thread.Expire),
		kv.KindSession:      expire(session.Expire),
		kv.KindConversation: expire(conversation.Expire),
		kv.KindMemory:       expire(memory.Expire),
		kv.KindReview:       expire(session.ExpireReview),
		kv.KindFeed:         func(c *txn.Tx, _, _ string, when int64) (int, error) { return 0, c.ForgetFeed(when) },
		kv.KindToken:        expire(token.Expire),
		kv.KindTimer:        func(c *txn.Tx, row, _ string, when int64) (int, error) { return 0, timer.Expire(c, row, when) },
		kv.KindErasure:      func(c *txn.Tx, _, id string, when int64) (int, error) { return erasure.Expire(c, id, when) },

		kv.KindCheckpointHistory: func(c *txn.Tx, _, id string, _ int64) (int, error) { return 0, checkpoint.ForgetRevision(c, id) },
	}
	for _, kind := range []string{
		kv.KindValueTombstone, kv.KindCheckpointTombstone, kv.KindThreadTombstone, kv.KindMemoryTombstone, kv.KindSessionTombstone, kv.KindConversationTombstone,
	} {
		all[kind] = func(c *txn.Tx, row, _ string, when int64) (int, error) { return 0, c.ExpireTombstone(row, when) }
	}
	return all
}()

func expire(run func(c *txn.Tx, id string, when int64) error) expiry {
	return func(c *txn.Tx, _, id string, when int64) (int, error) { return 0, run(c, id, when) }
}

// backfills are the indexes that a feature level added.
var backfills = []*txn.Backfill{&conversation.Backfill, &memory.Backfill}
