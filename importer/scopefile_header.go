package importer

import (
	"reflect"
	"slices"

	"dormouse/agent"
)

// ScopeFilePolicy is the policy of a scope in the header of a scope file. It has the fields of agent.Policy, and a
// member that is missing from the file is 0: files of earlier versions have the first seven only.
type ScopeFilePolicy struct {
	History        uint64 `json:"history"`
	KeysMax        uint64 `json:"keys_max"`
	BytesMax       uint64 `json:"bytes_max"`
	HistoryAgeMS   uint64 `json:"history_age_ms"`
	MemoriesMax    uint64 `json:"memories_max"`
	MemoryBytesMax uint64 `json:"memory_bytes_max"`
	ChangesMax     uint64 `json:"changes_max"`

	AgentsMax  uint64 `json:"agents_max"`
	ThreadsMax uint64 `json:"threads_max"`
	EntriesMax uint64 `json:"entries_max"`
	TimersMax  uint64 `json:"timers_max"`

	RequestsPerSecond uint64 `json:"requests_per_second"`
	BytesPerSecond    uint64 `json:"bytes_per_second"`
	WatchesMax        uint64 `json:"watches_max"`
	AwakeMax          uint64 `json:"awake_max"`
}

func headerOf(h *agent.ScopeHeader) ScopeFileHeader {
	s := h.Scope
	return ScopeFileHeader{
		Format: scopeFileFormat, RowFormat: h.RowFormat, ClusterID: h.ClusterID, Scope: s.Name, Index: h.Index, Minted: h.Minted,
		FeatureLevel: h.FeatureLevel, TimeMS: h.Time, Keys: s.Keys, Bytes: s.Bytes, CreatedAt: s.CreatedAt,
		Policy: ScopeFilePolicy(s.Policy), OwnPolicy: s.OwnPolicy, MetadataKeys: s.MetadataKeys,
	}
}

// scope returns the scope that the header describes.
func (h ScopeFileHeader) scope() *agent.Scope {
	return &agent.Scope{
		Name: h.Scope, Keys: h.Keys, Bytes: h.Bytes, CreatedAt: h.CreatedAt,
		Policy: agent.Policy(h.Policy), OwnPolicy: h.OwnPolicy, MetadataKeys: h.MetadataKeys,
	}
}

// compare adds the differences between a scope and the header of the file. Keys and bytes are not compared: an import
// counts the rows, which are compared one by one.
func (h ScopeFileHeader) compare(have ScopeFileHeader, d *Differences) {
	stored, filed := reflect.ValueOf(have.Policy), reflect.ValueOf(h.Policy)
	for i := range stored.NumField() {
		if a, b := stored.Field(i).Uint(), filed.Field(i).Uint(); a != b {
			d.add("policy: %s is %d, and %d in the file", stored.Type().Field(i).Tag.Get("json"), a, b)
		}
	}
	if have.OwnPolicy != h.OwnPolicy {
		d.add("policy: own_policy is %t, and %t in the file", have.OwnPolicy, h.OwnPolicy)
	}
	if !slices.Equal(have.MetadataKeys, h.MetadataKeys) {
		d.add("scope: its metadata keys are %q, and %q in the file", have.MetadataKeys, h.MetadataKeys)
	}
	if have.CreatedAt != h.CreatedAt {
		d.add("scope: it was created at %d, and at %d in the file", have.CreatedAt, h.CreatedAt)
	}
}
