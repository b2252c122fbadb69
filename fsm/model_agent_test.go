package fsm_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"dormouse/agent"
)

// modelAgent is a simple model of an agent's data: each agent has one thread, which is deleted with
// it.
type modelAgent struct {
	revision uint64
	entries  []string
	memories map[string]string
	sessions map[string]bool
}

func (m *modelAgent) empty() bool {
	return m == nil || m.revision == 0 && len(m.memories) == 0 && len(m.sessions) == 0
}

// Forks and erasures in any order leave each agent its own data, and at the end nothing.
func TestForksAndErasuresLeaveEachAgentItsOwn(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r := newSubject(t)
		names := []string{"a", "b", "c"}
		agents := map[string]*modelAgent{}
		of := func(name string) *modelAgent {
			if agents[name] == nil {
				agents[name] = &modelAgent{memories: map[string]string{}, sessions: map[string]bool{}}
			}
			return agents[name]
		}
		made := 0
		for range rapid.IntRange(1, 20).Draw(rt, "steps") {
			name := rapid.SampledFrom(names).Draw(rt, "agent")
			switch rapid.IntRange(0, 6).Draw(rt, "step") {
			case 0, 1:
				made++
				id, m := fmt.Sprintf("e%d", made), of(name)
				m.entries = append(m.entries, id)
				m.revision++
				do[*agent.CheckpointResult](r, &agent.AppendThread{Thread: "t-" + name, Entries: []agent.Draft{{ID: id}}},
					&agent.PutCheckpoint{Key: name, Thread: &agent.Pointer{Thread: "t-" + name, Rev: uint64(len(m.entries))}})
			case 2:
				made++
				id := rapid.SampledFrom([]string{"m", "n"}).Draw(rt, "memory")
				of(name).memories[id] = fmt.Sprint(made)
				do[*agent.MemoryResult](r, &agent.WriteMemory{Agent: name, ID: id, Content: fmt.Sprint(made)})
			case 3:
				n := rapid.SampledFrom([]int{1, 120}).Draw(rt, "sessions")
				var ops []agent.Op
				for range n {
					made++
					id := fmt.Sprintf("s%04d", made)
					of(name).sessions[id] = true
					ops = append(ops, &agent.PutSession{Session: id, Agent: name})
				}
				do[*agent.SessionResult](r, ops...)
			case 4:
				to := rapid.SampledFrom(names).Draw(rt, "to")
				if to == name {
					continue
				}
				forkBoth(rt, r, agents, name, to)
			case 5:
				do[*agent.Erasure](r, &agent.EraseAgent{Agent: name})
				delete(agents, name)
			default:
				r.pass()
			}
			for _, name := range names {
				sameAgent(rt, r, name, agents[name])
			}
		}
		for _, name := range names {
			do[*agent.Erasure](r, &agent.EraseAgent{Agent: name})
		}
		for range 100 {
			r.pass()
		}
		scope := read[*agent.Scope](r, &agent.GetScope{})
		if n := r.leftovers(); n != 0 || scope.Keys != 0 || scope.Bytes != 0 {
			rt.Fatalf("%d rows are left, and the scope counts %d keys and %d bytes", n, scope.Keys, scope.Bytes)
		}
	})
}

func forkBoth(t *rapid.T, r *subject, agents map[string]*modelAgent, from, to string) {
	op := &agent.ForkAgent{Agent: from, NewAgent: to, NewThread: "t-" + to}
	result, refusal := r.try(op)
	source, target := agents[from], agents[to]
	switch {
	case source == nil || source.revision == 0:
		wantCode(t, refusal, agent.CodeNotFound)
	case target != nil && (target.revision > 0 || len(target.memories) > 0):
		wantCode(t, refusal, agent.CodeAlreadyExists)
	case refusal != nil:
		t.Fatalf("fork %s as %s: %v", from, to, refusal)
	default:
		fork := &modelAgent{revision: 1, entries: slices.Clone(source.entries), memories: maps.Clone(source.memories), sessions: map[string]bool{}}
		if target != nil {
			fork.sessions = target.sessions
		}
		agents[to] = fork
		if got := result.Results[0].(*agent.ForkedAgent).Memories; got != uint64(len(fork.memories)) {
			t.Fatalf("%d memories were copied of %d", got, len(fork.memories))
		}
	}
}

func wantCode(t *rapid.T, refusal *agent.Error, code agent.Code) {
	if refusal == nil || refusal.Code != code {
		t.Fatalf("refused with %v, want %s", refusal, code)
	}
}

// sameAgent compares all that can be read of an agent with the model.
func sameAgent(t *rapid.T, r *subject, name string, m *modelAgent) {
	if m.empty() {
		m = &modelAgent{}
	}
	thawed := r.answer(&agent.Thaw{Key: name})
	if (thawed.Err == nil) != (m.revision > 0) {
		t.Fatalf("agent %s at revision %d: %+v", name, m.revision, thawed)
	}
	if thawed.Err == nil {
		var ids []string
		for _, e := range thawed.Found.(*agent.Thawed).Entries {
			ids = append(ids, e.ID)
		}
		if !slices.Equal(ids, m.entries) {
			t.Fatalf("agent %s has entries %v, want %v", name, ids, m.entries)
		}
	}
	memories := map[string]string{}
	for _, item := range read[*agent.MemoryList](r, &agent.ListMemories{Agent: name}).Items {
		memories[item.ID] = item.Content
	}
	if !maps.Equal(memories, m.memories) {
		t.Fatalf("agent %s remembers %v, want %v", name, memories, m.memories)
	}
	if got, want := r.listed(agent.ListSessions{Agent: name}), strings.Join(slices.Sorted(maps.Keys(m.sessions)), " "); got != want {
		t.Fatalf("agent %s has sessions %s, want %s", name, got, want)
	}
}
