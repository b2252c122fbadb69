package document

import (
	"dormouse/agent"
)

var scopeOps = map[string]func() wireOp{
	"put_scope":    func() wireOp { return new(putScopeOp) },
	"delete_scope": func() wireOp { return new(deleteScopeOp) },

	"index_metadata": func() wireOp { return new(indexMetadataOp) },
}

type putScopeOp struct {
	opName
	ScopePolicyBody
	Default bool `json:"default" required:"false" doc:"Set the policy of all scopes that have none of their own"`
}

func (o *putScopeOp) op() (agent.Op, error) {
	op := o.ScopePolicyBody.Op()
	op.Default = o.Default
	return op, nil
}

type indexMetadataOp struct {
	opName
	Keys []string `json:"keys" nullable:"false" doc:"Members of metadata by which values, checkpoints and sessions are listed; replaces the keys declared before"`
}

func (o *indexMetadataOp) op() (agent.Op, error) {
	if o.Keys == nil {
		return nil, agent.Invalid("keys", "keys is missing: give the keys to declare, or [] to withdraw all")
	}
	return &agent.IndexMetadata{Keys: o.Keys}, nil
}

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

	AgentsMax  uint64 `json:"agents_max,omitzero" required:"false" doc:"Names with a checkpoint, memories, sessions or conversations; 0 means no limit"`
	ThreadsMax uint64 `json:"threads_max,omitzero" required:"false" doc:"0 means no limit"`
	EntriesMax uint64 `json:"entries_max,omitzero" required:"false" doc:"Entries of all threads; 0 means no limit"`
	TimersMax  uint64 `json:"timers_max,omitzero" required:"false" doc:"0 means no limit"`

	RequestsPerSecond uint64 `json:"requests_per_second,omitzero" required:"false" doc:"On each node; 0 means no limit"`
	BytesPerSecond    uint64 `json:"bytes_per_second,omitzero" required:"false" doc:"Bytes of requests and answers on each node; 0 means no limit"`
	WatchesMax        uint64 `json:"watches_max,omitzero" required:"false" doc:"Watches at once on each node; 0 means no limit"`
	AwakeMax          uint64 `json:"awake_max,omitzero" required:"false" doc:"Instances awake at once in one process; 0 means no limit"`
}

// ScopePolicyBody is the policy to set of one scope.
type ScopePolicyBody struct {
	PolicyBody
	UseDefault bool        `json:"use_default" required:"false" doc:"Remove the scope's own policy, so that the default applies; the limits must be absent"`
	IfPolicy   *PolicyBody `json:"if_policy,omitempty" required:"false" doc:"Refuse the change as conflict unless this policy applies"`
}

// Op returns the op that sets the policy.
func (b ScopePolicyBody) Op() *agent.PutScope {
	return &agent.PutScope{Policy: b.ToAgent(), UseDefault: b.UseDefault, IfPolicy: (*agent.Policy)(b.IfPolicy)}
}

// DefaultPolicyBody is the default policy to set.
type DefaultPolicyBody struct {
	PolicyBody
	IfPolicy *PolicyBody `json:"if_policy,omitempty" required:"false" doc:"Refuse the change as conflict unless this is the default policy"`
}

// Op returns the op that sets the default policy.
func (b DefaultPolicyBody) Op() *agent.PutScope {
	return &agent.PutScope{Default: true, Policy: b.ToAgent(), IfPolicy: (*agent.Policy)(b.IfPolicy)}
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
	Agents    uint64     `json:"agents" doc:"Names with a checkpoint, memories, sessions or conversations"`
	Threads   uint64     `json:"threads"`
	Entries   uint64     `json:"entries" doc:"Of all threads; a fork counts those that were appended to it"`
	Timers    uint64     `json:"timers"`
	CreatedAt int64      `json:"created_at"`
	Policy    PolicyBody `json:"policy" doc:"The policy that applies: its own, or the default"`
	OwnPolicy bool       `json:"own_policy" doc:"The scope has a policy of its own"`

	MetadataKeys     []string `json:"metadata_keys,omitempty" doc:"Members of metadata by which its rows are listed"`
	MetadataBuilding bool     `json:"metadata_building,omitzero" doc:"Their index is being built: lists by metadata are unavailable"`
}

// ScopeOf returns the document of s.
func ScopeOf(s agent.Scope) Scope {
	return Scope{
		Name: s.Name, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		Agents: s.Agents, Threads: s.Threads, Entries: s.Entries, Timers: s.Timers,
		Policy: PolicyBody(s.Policy), OwnPolicy: s.OwnPolicy, MetadataKeys: s.MetadataKeys, MetadataBuilding: s.MetadataBuilding,
	}
}
