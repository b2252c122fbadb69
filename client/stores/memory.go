package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// MemoryStore keeps what agents remember.
type MemoryStore interface {
	// Write writes a memory, or writes it again under its id; without an id it
	// gets one made from its content. It returns the id.
	Write(ctx context.Context, write agent.WriteMemory) (id string, err error)

	// Recall finds what an agent remembers, by default what it was told last.
	Recall(ctx context.Context, recall agent.Recall) ([]agent.RecalledMemory, error)

	// Get reads one memory, with its embedding.
	Get(ctx context.Context, agentID, id string) (*agent.Memory, error)

	// Forget deletes a memory; a missing one is fine.
	Forget(ctx context.Context, agentID, id string) error

	// List yields the memories of an agent in the order of their ids, page by
	// page. With an empty agentID it yields those of all agents of the scope,
	// oldest write first. An error is the last element.
	List(ctx context.Context, agentID string) iter.Seq2[agent.Memory, error]
}

// Memories is the MemoryStore of a scope.
type Memories struct{ Scope client.Scope }

var _ MemoryStore = Memories{}

// Write implements MemoryStore.
func (m Memories) Write(ctx context.Context, write agent.WriteMemory) (string, error) {
	r, err := m.Scope.WriteMemory(ctx, write)
	if err != nil {
		return "", err
	}
	return r.ID, nil
}

// Recall implements MemoryStore.
func (m Memories) Recall(ctx context.Context, recall agent.Recall) ([]agent.RecalledMemory, error) {
	found, err := m.Scope.Recall(ctx, recall)
	if err != nil {
		return nil, err
	}
	return found.Items, nil
}

// Get implements MemoryStore.
func (m Memories) Get(ctx context.Context, agentID, id string) (*agent.Memory, error) {
	return m.Scope.GetMemory(ctx, agentID, id)
}

// Forget implements MemoryStore.
func (m Memories) Forget(ctx context.Context, agentID, id string) error {
	_, err := m.Scope.DeleteMemory(ctx, agent.DeleteMemory{Agent: agentID, ID: id})
	return err
}

// List implements MemoryStore.
func (m Memories) List(ctx context.Context, agentID string) iter.Seq2[agent.Memory, error] {
	return pages("", func(page agent.Page) ([]agent.Memory, string, error) {
		list, err := m.Scope.ListMemories(ctx, agentID, page)
		if err != nil {
			return nil, "", err
		}
		return list.Items, list.Next, nil
	})
}
