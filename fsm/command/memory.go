package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeMemoryRow decodes the row of a memory; id is used in the error.
func DecodeMemoryRow(id string, raw []byte) (*logpb.MemoryRow, error) {
	return Decode[logpb.MemoryRow](raw, "memory", id)
}

// DecodeMemoryBody decodes the body of a memory; id is used in the error.
func DecodeMemoryBody(id string, raw []byte) (*logpb.MemoryBody, error) {
	if raw == nil {
		return nil, fmt.Errorf("memory %q has no body", id)
	}
	return Decode[logpb.MemoryBody](raw, "the body of memory", id)
}

// DecodeMemoryAgent decodes the totals of an agent's memories; nil raw means none.
func DecodeMemoryAgent(name string, raw []byte) (*logpb.MemoryAgentRow, error) {
	return Decode[logpb.MemoryAgentRow](raw, "the memory totals of agent", name)
}

// DecodeMemoryGone decodes the row of a delete.
func DecodeMemoryGone(raw []byte) (*logpb.MemoryGone, error) {
	gone := &logpb.MemoryGone{}
	if err := Unmarshal(raw, gone); err != nil {
		return nil, fmt.Errorf("decode a deleted memory: %w", err)
	}
	return gone, nil
}

// MemoryOf returns a memory as callers see it, without its embedding.
func MemoryOf(name, id string, row *logpb.MemoryRow, body *logpb.MemoryBody) agent.Memory {
	return agent.Memory{
		Agent: name, ID: id, Incarnation: row.Incarnation, Revision: row.Revision, Session: row.Session, Class: row.Class, Kind: row.Kind,
		Content: body.Content, Data: body.Data, Tags: row.Tags, Source: body.Source, Metadata: OrEmptyObject(body.Metadata),
		ObservedAt: row.ObservedAt, CreatedAt: row.CreatedAt, UpdatedAt: row.UpdatedAt, ExpiresAt: row.ExpiresAt,
	}
}
