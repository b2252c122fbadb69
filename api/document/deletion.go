package document

import (
	"dormouse/agent"
)

var deletionOps = map[string]func() wireOp{
	"delete_prefix": func() wireOp { return new(deletePrefixOp) },
}

// PrefixDeletion is the receipt of a deletion by prefix.
type PrefixDeletion struct {
	ID          string `json:"id"`
	Kind        string `json:"kind" doc:"values, checkpoints or threads"`
	Prefix      string `json:"prefix" doc:"Empty if the deletion is of all"`
	Index       uint64 `json:"index" doc:"The log index of the deletion: from it on nothing that it deleted can be read"`
	DeletedAt   int64  `json:"deleted_at"`
	Removed     uint64 `json:"removed" doc:"Values, checkpoints or threads whose rows are removed"`
	Complete    bool   `json:"complete" doc:"All rows are removed; until then removed grows"`
	CompletedAt int64  `json:"completed_at,omitzero"`
}

// PrefixDeletionOf returns the document of d.
func PrefixDeletionOf(d agent.PrefixDeletion) PrefixDeletion {
	return PrefixDeletion{
		ID: d.ID, Kind: string(d.Kind), Prefix: d.Prefix, Index: d.Index, DeletedAt: d.DeletedAt,
		Removed: d.Removed, Complete: d.Complete(), CompletedAt: d.CompletedAt,
	}
}

type deletePrefixOp struct {
	opName
	Kind   string `json:"kind" enum:"values,checkpoints,threads"`
	Prefix string `json:"prefix,omitempty" doc:"All whose key begins with it are deleted"`
	All    bool   `json:"all,omitempty" doc:"Instead of a prefix: delete all of the kind"`
}

func (o *deletePrefixOp) op() (agent.Op, error) {
	return &agent.DeletePrefix{Kind: agent.ChangeKind(o.Kind), Prefix: o.Prefix, All: o.All}, nil
}

type (
	listDeletionsRead struct{ orderedRead }
	getDeletionRead   struct {
		readName
		ID string `json:"id"`
	}
)

func (r listDeletionsRead) read() agent.Read { return &agent.ListDeletions{Page: r.page()} }
func (r getDeletionRead) read() agent.Read   { return &agent.GetDeletion{ID: r.ID} }
