package client

import (
	"context"

	"dormouse/agent"
)

// WriteMemory writes what an agent is to remember, or writes it again. Without
// an id it gets one made from its content, which the result tells.
func (s Scope) WriteMemory(ctx context.Context, write agent.WriteMemory) (*agent.MemoryResult, error) {
	return do[*agent.MemoryResult](ctx, s, &write)
}

// DeleteMemory makes an agent forget a memory; a missing one is fine.
func (s Scope) DeleteMemory(ctx context.Context, remove agent.DeleteMemory) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &remove)
}

// GetMemory reads one memory of an agent, with its embedding.
func (s Scope) GetMemory(ctx context.Context, name, id string) (*agent.Memory, error) {
	return ask[*agent.Memory](ctx, s, &agent.GetMemory{Agent: name, ID: id})
}

// ListMemories lists the memories of an agent in the order of their ids. With an
// empty name it lists those of all agents of the scope, oldest write first; the
// page then has no prefix, and After is the Next of the page before.
func (s Scope) ListMemories(ctx context.Context, name string, page agent.Page) (*agent.MemoryList, error) {
	return ask[*agent.MemoryList](ctx, s, &agent.ListMemories{Agent: name, Page: page})
}

// Recall finds what an agent remembers. It sees every write before it.
func (s Scope) Recall(ctx context.Context, recall agent.Recall) (*agent.Recalled, error) {
	return ask[*agent.Recalled](ctx, s, &recall)
}
