package fsm

import (
	"fmt"
	"reflect"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/claim"
	"dormouse/fsm/command"
	"dormouse/fsm/conversation"
	"dormouse/fsm/deletion"
	"dormouse/fsm/erasure"
	"dormouse/fsm/kv"
	"dormouse/fsm/manager"
	"dormouse/fsm/memory"
	"dormouse/fsm/metadata"
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

// opRuns holds how each op of the contract runs. Each noun lists its own.
var opRuns = func() map[reflect.Type]runOp {
	all := map[reflect.Type]runOp{}
	for _, one := range slices.Concat(
		value.Ops, checkpoint.Ops, thread.Ops, memory.Ops, claim.Ops, manager.Ops, session.Ops, erasure.Ops, conversation.Ops, token.Ops, timer.Ops, metadata.Ops, deletion.Ops,
		[]txn.Op{txn.OpOf(putScope), txn.OpOf(forkAgent), txn.OpOf(setTTL)},
	) {
		all[one.Of] = func(c machineCommit, op agent.Op, _ bool) (agent.OpResult, error) { return one.Run(c.Tx, op) }
	}
	all[reflect.TypeFor[*agent.ImportScope]()] = machineOp(machineCommit.importScope)
	all[reflect.TypeFor[*agent.DeleteScope]()] = machineOp(machineCommit.deleteScope)
	return all
}()

// machineOp returns how an op runs that must be its commit's only one, or that changes the
// machine's in-memory state.
func machineOp[T agent.Op](run func(machineCommit, T, bool) (agent.OpResult, error)) runOp {
	return func(c machineCommit, op agent.Op, alone bool) (agent.OpResult, error) {
		return run(c, op.(T), alone) //nolint:forcetypeassert // the registry's key
	}
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
	case *logpb.ClusterOp_DrainNode:
		return c.drainNode(p.DrainNode)
	case *logpb.ClusterOp_PinPartition:
		return c.pinPartition(p.PinPartition)
	case *logpb.ClusterOp_EndInstance:
		return erasure.EndInstance(c.Tx, p.EndInstance)
	default:
		return nil, fmt.Errorf("cluster op of type %T is unknown to this version", p)
	}
}

// readRuns holds how each read of the contract is answered. Each noun lists its own.
var readRuns = func() map[reflect.Type]txn.Read {
	all := map[reflect.Type]txn.Read{}
	for _, one := range slices.Concat(
		value.Reads, checkpoint.Reads, thread.Reads, memory.Reads, claim.Reads, manager.Reads, session.Reads, conversation.Reads, token.Reads, timer.Reads, erasure.Reads, deletion.Reads,
		[]txn.Read{txn.ReadOf(readThaw), txn.ReadOf(readScopes), txn.ReadOf(readScope), txn.ReadOf(readAnswer)},
	) {
		all[one.Of] = one
	}
	return all
}()

func answerRead(r txn.Reader, q agent.Read) (agent.Found, error) {
	read, ok := readRuns[reflect.TypeOf(q)]
	if !ok {
		return nil, agent.Invalid("reads", "read of type %T is unknown to this node", q)
	}
	return read.Run(r, q)
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

		kv.KindDeletion: func(c *txn.Tx, _, id string, when int64) (int, error) { return deletion.Expire(c, id, when) },

		kv.KindMetadataBuild: metadata.Build,

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
var backfills = append([]*txn.Backfill{&conversation.Backfill, &memory.Backfill}, txn.CountBackfills...)
