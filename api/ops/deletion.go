package ops

import (
	"dormouse/agent"
	oppb "dormouse/proto/op"
)

var deletionCodecs = []opCodec{
	codec(encodeDeletePrefix, (*oppb.Op).GetDeletePrefix, decodeDeletePrefix),
}

func encodeDeletePrefix(out *oppb.Op, o *agent.DeletePrefix) {
	out.Op = &oppb.Op_DeletePrefix{DeletePrefix: &oppb.DeletePrefix{Kind: string(o.Kind), Prefix: o.Prefix, All: o.All}}
}

func decodeDeletePrefix(p *oppb.DeletePrefix) (agent.Op, error) {
	return &agent.DeletePrefix{Kind: agent.ChangeKind(p.Kind), Prefix: p.Prefix, All: p.All}, nil
}

// DeletionToProto converts the receipt of a deletion by prefix to protobuf.
func DeletionToProto(d *agent.PrefixDeletion) *oppb.PrefixDeletion {
	return &oppb.PrefixDeletion{
		Id: d.ID, Kind: string(d.Kind), Prefix: d.Prefix, Index: d.Index, DeletedAt: d.DeletedAt, Removed: d.Removed, CompletedAt: d.CompletedAt,
	}
}

// DeletionFromProto converts the receipt of a deletion by prefix from protobuf.
func DeletionFromProto(p *oppb.PrefixDeletion) *agent.PrefixDeletion {
	return &agent.PrefixDeletion{
		ID: p.GetId(), Kind: agent.ChangeKind(p.GetKind()), Prefix: p.GetPrefix(), Index: p.GetIndex(),
		DeletedAt: p.GetDeletedAt(), Removed: p.GetRemoved(), CompletedAt: p.GetCompletedAt(),
	}
}
