package command

import (
	"fmt"

	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeMemoryRow decodes the row of a memory; id is used in the error.
func DecodeMemoryRow(id string, raw []byte) (*logpb.MemoryRow, error) {
	row := &logpb.MemoryRow{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode memory %q: %w", id, err)
	}
	return row, nil
}

// DecodeMemoryBody decodes the body of a memory; id is used in the error.
func DecodeMemoryBody(id string, raw []byte) (*logpb.MemoryBody, error) {
	if raw == nil {
		return nil, fmt.Errorf("memory %q has no body", id)
	}
	body := &logpb.MemoryBody{}
	if err := Unmarshal(raw, body); err != nil {
		return nil, fmt.Errorf("decode the body of memory %q: %w", id, err)
	}
	return body, nil
}

// DecodeMemoryAgent decodes the totals of an agent's memories; nil raw means none.
func DecodeMemoryAgent(name string, raw []byte) (*logpb.MemoryAgentRow, error) {
	row := &logpb.MemoryAgentRow{}
	if err := Unmarshal(raw, row); err != nil {
		return nil, fmt.Errorf("decode the memory totals of agent %q: %w", name, err)
	}
	return row, nil
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
