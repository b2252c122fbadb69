package command

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeDeletionRow decodes the row of a deletion by prefix; id is used in the error.
func DecodeDeletionRow(id string, raw []byte) (*logpb.PrefixDeletion, error) {
	return Decode[logpb.PrefixDeletion](raw, "the deletion", id)
}

// DecodeDeletion returns a receipt as callers see it.
func DecodeDeletion(id string, p *logpb.PrefixDeletion) *agent.PrefixDeletion {
	return &agent.PrefixDeletion{
		ID: id, Kind: agent.ChangeKind(p.GetKind()), Prefix: p.GetPrefix(), Index: p.GetIndex(), DeletedAt: p.GetDeletedAt(),
		Removed: p.GetRemoved(), CompletedAt: p.GetCompletedAt(),
	}
}
