package agent_test

import (
	"slices"
	"testing"

	"dormouse/agent"
)

// The removal of all memories of an agent is the removal of each.
func TestTheRemovalOfAllMemoriesIsThatOfEach(t *testing.T) {
	gone := agent.Changed{Kind: agent.ChangedMemory, Agent: "a", Deleted: true}
	for prefix, want := range map[string]bool{
		"": true, "mem": true, "memory/a": true, "memory/a/": true, "memory/a/x": true,
		"memory/": true, "memory/b/x": false, "memory/ab/x": false, "threads/": false, "memory/b": false,
	} {
		if got := gone.Under(prefix); got != want {
			t.Errorf("under %q: %v", prefix, got)
		}
	}
	written := func(agentID, key string) agent.Changed {
		return agent.Changed{Kind: agent.ChangedMemory, Agent: agentID, Key: key, Revision: 1}
	}
	later := agent.DeletedLater([]agent.Changed{written("a", "x"), written("b", "x"), gone, written("a", "x")})
	if want := []bool{true, false, false, false}; !slices.Equal(later, want) {
		t.Errorf("deleted later: %v, want %v", later, want)
	}
}
