package fsm

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/storage"
)

// featureLevelMax is the highest feature level that this version supports. The cluster's own level
// is replicated, and rises once all members support it.
const featureLevelMax uint32 = txn.DecisionLevel

// FeatureLevelMax is the level that a member reports: see layout.Member.
const FeatureLevelMax = featureLevelMax

const levelKey = kv.KindSystem + "level"

// roster holds the members of the cluster and the incarnations that may not return.
type roster struct {
	members []layout.Member   // in id order
	removed map[string]string // :: incarnation → id
	level   uint32
}

// readRoster reads the roster of a state, and refuses a feature level that this version does not know.
func readRoster(r storage.Reader) (*roster, error) {
	out := &roster{removed: map[string]string{}}
	err := txn.EachRow(r, kv.KindMember, func(id string, raw []byte) error {
		var p logpb.Member
		if err := command.Unmarshal(raw, &p); err != nil {
			return fmt.Errorf("decode member %q: %w", id, err)
		}
		out.members = append(out.members, decodeMember(id, &p))
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = txn.EachRow(r, kv.KindRemoved, func(incarnation string, raw []byte) error {
		out.removed[incarnation] = string(raw)
		return nil
	})
	if err != nil {
		return nil, err
	}
	raw, ok, err := r.Get([]byte(levelKey))
	if err != nil || !ok {
		return out, err
	}
	out.level = uint32(kv.DecodeNumber(raw))
	return out, acceptLevel("state", out.level)
}

// forgetCluster deletes what ties the state to its cluster: members, removed incarnations, leases,
// partitions and claims. A restored backup founds another cluster.
func forgetCluster(r storage.Reader, b *storage.Batch) error {
	if err := forgetClaims(r, b); err != nil {
		return err
	}
	forgetPlaced(b)
	for _, kind := range []string{kv.KindMember, kv.KindRemoved} {
		err := txn.EachRow(r, kind, func(name string, _ []byte) error {
			b.Delete([]byte(kind + name))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Members returns the cluster's members in id order. The caller must not change the slice.
func (m *Machine) Members() []layout.Member {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.members
}

// Removed reports whether the member of that incarnation was removed for good.
func (m *Machine) Removed(incarnation string) bool {
	m.mu.RLock()
	defer m.mu.RUnlock()
	_, ok := m.removed[incarnation]
	return ok
}

// FeatureLevel returns the cluster's feature level.
func (m *Machine) FeatureLevel() uint32 {
	m.mu.RLock()
	defer m.mu.RUnlock()
	return m.level
}

// encoders encodes the commits that nodes propose for themselves. It has no state; the
// methods are promoted to Machine.
type encoders struct{}

// EncodePutMember encodes a commit that adds or changes a member.
func (encoders) EncodePutMember(member layout.Member) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_PutMember{PutMember: &logpb.PutMember{Member: encodeMember(member)}}})
}

// EncodeRemoveMember encodes a commit that removes a member for good.
func (encoders) EncodeRemoveMember(id, incarnation string) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_RemoveMember{
		RemoveMember: &logpb.RemoveMember{Id: id, Incarnation: incarnation},
	}})
}

// EncodeFeatureLevel encodes a commit that raises the cluster's level.
func (encoders) EncodeFeatureLevel(level uint32) []byte {
	return encodeClusterOp(&logpb.ClusterOp{Op: &logpb.ClusterOp_SetFeatureLevel{SetFeatureLevel: &logpb.SetFeatureLevel{Level: level}}})
}

// encodeClusterOp encodes a commit of no scope: an import of its scope would refuse it.
func encodeClusterOp(op *logpb.ClusterOp) []byte {
	return command.EncodeLogCommit(&logpb.Commit{ClusterOps: []*logpb.ClusterOp{op}})
}

// ownRoster returns the entry's copy of the roster, which the commit may change.
func (b *batch) ownRoster() *roster {
	old := roster{members: b.machine.members, removed: b.machine.removed, level: b.machine.level}
	if b.roster != nil {
		old = *b.roster
	}
	b.roster = &roster{members: slices.Clone(old.members), removed: maps.Clone(old.removed), level: old.level}
	return b.roster
}

// putMember adds or changes a member. A name belongs to one incarnation at a time: a node that lost
// its data must be removed before it returns.
func (c machineCommit) putMember(p *logpb.PutMember) (agent.OpResult, error) {
	member := p.GetMember()
	id, incarnation := member.GetId(), member.GetIncarnation()
	if err := validMember(id, incarnation); err != nil {
		return nil, err
	}
	r := c.batch.ownRoster()
	if _, gone := r.removed[incarnation]; gone {
		e := agent.Errorf(agent.CodeDeleted, "node %q with this data directory has left the cluster for good", id)
		return nil, e
	}
	at, found := slices.BinarySearchFunc(r.members, id, func(m layout.Member, id string) int { return strings.Compare(m.ID, id) })
	switch {
	case !found:
		r.members = slices.Insert(r.members, at, decodeMember(id, member))
	case r.members[at].Incarnation != incarnation:
		return nil, agent.Errorf(agent.CodeAlreadyExists, "there is a member %q with another data directory: remove it first", id)
	default:
		r.members[at] = decodeMember(id, member)
	}
	raw := command.Marshal(encodeMember(r.members[at]))
	c.Rows.Set(kv.KindMember+id, raw)
	return &agent.DeleteResult{Existed: found}, nil
}

func validMember(id, incarnation string) error {
	if err := agent.ValidKey("member.id", id); err != nil {
		return err
	}
	return agent.ValidKey("member.incarnation", incarnation)
}

func (c machineCommit) removeMember(p *logpb.RemoveMember) (agent.OpResult, error) {
	if err := validMember(p.GetId(), p.GetIncarnation()); err != nil {
		return nil, err
	}
	r := c.batch.ownRoster()
	before := len(r.members)
	r.members = slices.DeleteFunc(r.members, func(m layout.Member) bool {
		return m.ID == p.Id && m.Incarnation == p.Incarnation
	})
	existed := len(r.members) < before
	if existed {
		c.Rows.Remove(kv.KindMember + p.Id)
		c.batch.endRules(p.Id)
	}
	r.removed[p.Incarnation] = p.Id
	c.Rows.Set(kv.KindRemoved+p.Incarnation, []byte(p.Id))
	return &agent.DeleteResult{Existed: existed}, nil
}

// setFeatureLevel raises the level, and never lowers it. A level that this version does not support
// stops the node before it applies an unknown op.
func (c machineCommit) setFeatureLevel(p *logpb.SetFeatureLevel) (agent.OpResult, error) {
	level := p.GetLevel()
	if err := acceptLevel("log", level); err != nil {
		return nil, err
	}
	r := c.batch.ownRoster()
	if level < r.level {
		return nil, agent.Errorf(agent.CodeConflict, "the feature level is %d already", r.level)
	}
	if r.level < txn.ChangesLevel && level >= txn.ChangesLevel {
		c.Rows.Set(txn.FeedsKey, []byte(kv.EncodeNumber(c.Progress.Index)))
	}
	for _, f := range backfills {
		if r.level < f.Level && level >= f.Level {
			txn.StartBackfill(c.Entry, f)
		}
	}
	r.level = level
	c.Rows.Set(levelKey, []byte(kv.EncodeNumber(uint64(level))))
	return &agent.DeleteResult{Existed: true}, nil
}

func encodeMember(m layout.Member) *logpb.Member {
	return &logpb.Member{
		Id: m.ID, Incarnation: m.Incarnation, RaftAddr: m.RaftAddr, GrpcAddr: m.GRPCAddr, HttpAddr: m.HTTPAddr,
		GossipAddr: m.GossipAddr, WantVote: m.WantVote, Version: m.Version, FeatureLevelMax: m.FeatureLevelMax,
		Zone: m.Zone, Weight: uint32(max(m.Weight, 0)), Host: m.Host,
	}
}

func decodeMember(id string, p *logpb.Member) layout.Member {
	return layout.Member{
		ID: id, Incarnation: p.Incarnation, RaftAddr: p.RaftAddr, GRPCAddr: p.GrpcAddr, HTTPAddr: p.HttpAddr,
		GossipAddr: p.GossipAddr, WantVote: p.WantVote, Version: p.Version, FeatureLevelMax: p.FeatureLevelMax,
		Zone: p.Zone, Weight: int(p.Weight), Host: p.Host,
	}
}
