package fsm_test

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/fsm/txn"
)

func (m *model) writeMemory(op *agent.WriteMemory, got agent.OpResult) (agent.OpResult, agent.Code) {
	key := op.Agent + "/" + op.ID
	v, found := m.memories[key]
	if code := m.enter("m/"+key, op.IfIncarnation, v.Incarnation); code != "" {
		return nil, code
	}
	if !revisionIs(op.IfRevision, v.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	next := agent.Memory{
		Agent: op.Agent, ID: op.ID, Incarnation: v.Incarnation, Revision: v.Revision + 1, Session: op.Session, Class: op.Class, Kind: op.Kind,
		Content: op.Content, Data: op.Data, Tags: op.Tags, Source: op.Source, Metadata: op.Metadata,
		ObservedAt: m.now, CreatedAt: v.CreatedAt, UpdatedAt: m.now,
	}
	if !found {
		next.CreatedAt = m.now
		if got, ok := got.(*agent.MemoryResult); ok {
			next.Incarnation = m.born(got.Incarnation)
		}
	}
	if op.ObservedAt != nil {
		next.ObservedAt = *op.ObservedAt
	}
	if op.TTL > 0 {
		next.ExpiresAt = m.now + op.TTL.Milliseconds()
	}
	m.memories[key] = next
	m.written = append(slices.DeleteFunc(m.written, func(k string) bool { return k == key }), key)
	return &agent.MemoryResult{
		Agent: op.Agent, ID: op.ID, Incarnation: next.Incarnation, Revision: next.Revision, CreatedAt: next.CreatedAt, UpdatedAt: m.now,
	}, ""
}

func (m *model) deleteMemory(op *agent.DeleteMemory) (agent.OpResult, agent.Code) {
	key := op.Agent + "/" + op.ID
	v, found := m.memories[key]
	if op.IfIncarnation != 0 && op.IfIncarnation != v.Incarnation {
		return nil, agent.CodeDeleted
	}
	if !revisionIs(op.IfRevision, v.Revision) {
		return nil, agent.CodeRevisionMismatch
	}
	delete(m.memories, key)
	m.seal("m/"+key, op.Seal.Milliseconds())
	return &agent.DeleteResult{Existed: found, Incarnation: v.Incarnation}, ""
}

var sessionsOfMemories = []string{"", "s", "t"}

func (g *generator) memoryOp(t *rapid.T, id string) agent.Op {
	name := rapid.SampledFrom([]string{"x", "y"}).Draw(t, "agent")
	stored := g.model.memories[name+"/"+id]
	if rapid.IntRange(0, 3).Draw(t, "delete") == 0 {
		return &agent.DeleteMemory{
			Agent: name, ID: id, IfRevision: near(t, stored.Revision), IfIncarnation: incarnation(t, stored.Incarnation), Seal: seals.Draw(t, "seal"),
		}
	}
	op := &agent.WriteMemory{
		Agent: name, ID: id, Session: rapid.SampledFrom(sessionsOfMemories).Draw(t, "session"), Class: "semantic", Kind: "fact",
		Content: fmt.Sprintf("memory %d", g.n), Metadata: agent.JSON(`{}`), TTL: ttls.Draw(t, "ttl"),
		IfRevision: near(t, stored.Revision), IfIncarnation: incarnation(t, stored.Incarnation),
	}
	if rapid.Bool().Draw(t, "observed") {
		op.ObservedAt = ptr(rapid.Int64Range(-2, 2).Draw(t, "at"))
	}
	return op
}

// sameMemories compares reads and recalls with the model, and returns the bytes that the memories
// count for.
func sameMemories(t *rapid.T, r *subject, m *model) (bytes uint64) {
	t.Helper()
	if r.machine.FeatureLevel() >= txn.ListedLevel {
		var whole []agent.Memory // of all agents, oldest write first
		for _, key := range m.written {
			if v, found := m.memories[key]; found {
				whole = append(whole, v)
			}
		}
		same(t, r, &agent.ListMemories{}, &agent.MemoryList{Items: whole}, true)
	}
	for _, name := range []string{"x", "y"} {
		var all []agent.Memory // last written first
		for _, key := range slices.Backward(m.written) {
			if v, found := m.memories[key]; found && v.Agent == name {
				all = append(all, v)
				bytes += uint64(len(v.Content) + len(v.Metadata) + len(v.Kind))
			}
		}
		for _, id := range []string{"a", "b", "c"} {
			v, found := m.memories[name+"/"+id]
			same(t, r, &agent.GetMemory{Agent: name, ID: id}, &v, found)
		}
		for _, session := range sessionsOfMemories {
			for _, q := range []agent.Recall{
				{Within: agent.WithinAgent, Session: session}, {Within: agent.WithinSession, Session: session}, {Within: agent.WithinAll},
			} {
				q.Agent, q.Mode, q.Query, q.Limit = name, agent.ModeRecent, "memory", 10
				within := slices.DeleteFunc(slices.Clone(all), func(v agent.Memory) bool { return !q.Reaches(v.Session) })
				sameRecall(t, r, q, within)
				q.Mode, q.Query = agent.ModeQuery, ""
				slices.SortFunc(within, func(a, b agent.Memory) int {
					if a.ObservedAt != b.ObservedAt {
						return int(b.ObservedAt - a.ObservedAt)
					}
					return strings.Compare(b.ID, a.ID)
				})
				sameRecall(t, r, q, within)
			}
		}
	}
	return bytes
}

func sameRecall(t *rapid.T, r *subject, q agent.Recall, want []agent.Memory) {
	t.Helper()
	answer := r.answer(&q)
	got, ok := answer.Found.(*agent.Recalled)
	if !ok {
		t.Fatalf("%+v: %v", q, answer.Err)
	}
	var items []agent.Memory
	for _, item := range got.Items {
		items = append(items, item.Memory)
	}
	if diff := cmp.Diff(want, items, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%+v (-model +machine):\n%s", q, diff)
	}
}
