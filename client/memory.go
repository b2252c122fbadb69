package client

import (
	"context"

	"dormouse/agent"
)

// WriteMemory writes or replaces a memory of an agent. Without an id it gets one
// derived from its content; the result has it.
func (s Memories) WriteMemory(ctx context.Context, write agent.WriteMemory) (*agent.MemoryResult, error) {
	return do[*agent.MemoryResult](ctx, s.target, &write)
}

// DeleteMemory deletes a memory of an agent; deleting a missing one succeeds.
func (s Memories) DeleteMemory(ctx context.Context, remove agent.DeleteMemory) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &remove)
}

// GetMemory reads one memory of an agent, with its embedding; not_found if it does not
// exist.
func (s Memories) GetMemory(ctx context.Context, name, id string) (*agent.Memory, error) {
	return ask[*agent.Memory](ctx, s.target, &agent.GetMemory{Agent: name, ID: id})
}

// ListMemories lists an agent's memories in id order. With an empty name it lists
// those of all agents of the scope, oldest write first. The page then has no prefix,
// and After is the Next of the previous page.
func (s Memories) ListMemories(ctx context.Context, name string, page agent.Page) (*agent.MemoryList, error) {
	return ask[*agent.MemoryList](ctx, s.target, &agent.ListMemories{Agent: name, Page: page})
}

// Recall searches an agent's memories: the newest, by filters, by words (BM25), by a vector
// (cosine), or by both (reciprocal rank fusion). It sees all earlier writes. An agent
// without memories has no result, and that is no error.
func (s Memories) Recall(ctx context.Context, recall agent.Recall) (*agent.Recalled, error) {
	return ask[*agent.Recalled](ctx, s.target, &recall)
}
