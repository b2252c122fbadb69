package fsm

import (
	"fmt"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/placement"
	logpb "dormouse/proto/log"
)

// An agent that is an instance may be live in the memory of its partition's owner, with state that
// is not stored. Its erasure is complete only once the owner has ended it. The fence of each of the
// owner's commits names the agent and the index that the instance was loaded at. So the machine
// refuses commits of turns that began before the erasure.

// EncodeEndInstance encodes a commit that records the end of a live instance. awake reports whether
// it was in its owner's memory until then.
func (encoders) EncodeEndInstance(e agent.Ending, awake bool) []byte {
	return command.EncodeLogCommit(&logpb.Commit{Scope: e.Scope, ClusterOps: []*logpb.ClusterOp{{Op: &logpb.ClusterOp_EndInstance{
		EndInstance: &logpb.EndInstance{Agent: e.Checkpoint(), ErasedIndex: e.Index, Awake: awake},
	}}}})
}

// Endings returns at most limit live instances, of all scopes, that their owners must end. It
// starts at from, which is the next of an earlier call or "" for the beginning. next is "" at the
// end.
func (m *Machine) Endings(from string, limit int) (all []agent.Ending, next string, err error) {
	view := m.View()
	defer view.Close()
	if view.err != nil {
		return nil, "", view.err
	}
	r := view.reader("")
	lower := max(kv.KindEnding, from)
	last, err := r.EachOfPage(lower, kv.After(kv.KindEnding), uint64(limit), agent.ReadBytesMax, func(key string, _ []byte) (int, error) {
		_, scope, id, ok := kv.SplitID(key)
		manager, instance, is := agent.InstanceOf(id)
		if !ok || !is {
			return 0, fmt.Errorf("the index of instances to end holds %q", key)
		}
		if view.imports[scope] != nil {
			return 0, nil // the end of the import notifies the leader
		}
		raw, err := view.Get(kv.IDKey(kv.KindErasure, scope, id))
		if err != nil {
			return 0, err
		}
		row, err := command.DecodeErasureRow(id, raw)
		if err != nil || !row.Ending {
			return 0, err
		}
		all = append(all, agent.Ending{InstanceRef: agent.InstanceRef{Scope: scope, Manager: manager, Key: instance}, Index: row.ErasedIndex})
		return len(key), nil
	})
	if last != "" {
		next = last + "\x00"
	}
	return all, next, err
}

// Owned reports whether an instance's partition has an owner.
func (m *Machine) Owned(ref agent.InstanceRef) bool {
	return m.Partition(placement.Partition(ref.Scope, ref.Manager, ref.Key)).Owner != ""
}
