package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// MemoryStore stores agents' memories.
type MemoryStore interface {
	// Write writes or replaces a memory, and returns its id. Without an id it gets one
	// derived from its content.
	Write(ctx context.Context, write agent.WriteMemory) (id string, err error)

	// Recall searches an agent's memories; by default it returns the newest ones.
	Recall(ctx context.Context, recall agent.Recall) ([]agent.RecalledMemory, error)

	// Get reads one memory, with its embedding.
	Get(ctx context.Context, agentID, id string) (*agent.Memory, error)

	// Forget deletes a memory; deleting a missing one succeeds.
	Forget(ctx context.Context, agentID, id string) error

	// List yields an agent's memories in id order. With an empty agentID it yields
	// those of all agents of the scope, oldest write first. An error is the last
	// element.
	List(ctx context.Context, agentID string) iter.Seq2[agent.Memory, error]
}

// Memories implements MemoryStore with a scope.
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
