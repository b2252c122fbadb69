package document

import (
	"dormouse/agent"
)

var scopeOps = map[string]func() wireOp{
	"put_scope":    func() wireOp { return new(putScopeOp) },
	"delete_scope": func() wireOp { return new(deleteScopeOp) },
}

type putScopeOp struct {
	opName
	PolicyBody
}

func (o *putScopeOp) op() (agent.Op, error) { return &agent.PutScope{Policy: o.ToAgent()}, nil }

type deleteScopeOp struct{ opName }

func (*deleteScopeOp) op() (agent.Op, error) { return &agent.DeleteScope{}, nil }

// PolicyBody is the retention and the quotas of a scope.
type PolicyBody struct {
	History  uint64 `json:"history" required:"false" doc:"Checkpoints kept per key, including the current one; 0 means 4"`
	KeysMax  uint64 `json:"keys_max" required:"false" doc:"0 means no limit"`
	BytesMax uint64 `json:"bytes_max" required:"false" doc:"0 means no limit"`

	HistoryAgeMS uint64 `json:"history_age_ms,omitzero" required:"false" doc:"How long a checkpoint is kept after it was replaced; 0 means no limit"`

	MemoriesMax    uint64 `json:"memories_max,omitzero" required:"false" doc:"Number of memories of one agent; 0 means 100,000"`
	MemoryBytesMax uint64 `json:"memory_bytes_max,omitzero" required:"false" doc:"Bytes of all memories of one agent; 0 means 256 MiB"`

	ChangesMax uint64 `json:"changes_max,omitzero" required:"false" doc:"Minimum number of changes that the scope's feed keeps; 0 means 100,000"`
}

// ToAgent returns the policy.
func (p PolicyBody) ToAgent() agent.Policy {
	return agent.Policy(p)
}

// Scope is a scope with its usage.
type Scope struct {
	Name      string     `json:"name"`
	Keys      uint64     `json:"keys"`
	Bytes     uint64     `json:"bytes"`
	CreatedAt int64      `json:"created_at"`
	Policy    PolicyBody `json:"policy"`
}

// ScopeOf returns the document of s.
func ScopeOf(s agent.Scope) Scope {
	return Scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		Policy: PolicyBody(s.Policy),
	}
}
