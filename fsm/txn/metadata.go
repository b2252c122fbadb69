package txn

import (
	"slices"

	"dormouse/agent"
	"dormouse/fsm/kv"
	"dormouse/internal/seededbug"
)

// MetadataNouns are the kinds of the rows that the index of metadata has, in the order in which it is
// built.
var MetadataNouns = []string{kv.KindValue, kv.KindCheckpoint, kv.KindSession}

// HasMetadataIndex reports whether the commit's scope has an index of metadata.
func (c *Tx) HasMetadataIndex() bool { return len(c.Record.MetadataKeys) > 0 }

// IndexMetadata replaces the index rows of a row whose metadata changes. noun is the kind of the row;
// before or after is nil if the row does not exist then.
func (c *Tx) IndexMetadata(noun, id string, before, after agent.JSON) {
	for _, key := range c.Record.MetadataKeys {
		old, had := agent.MetadataText(before, key)
		value, has := agent.MetadataText(after, key)
		if had && (!has || old != value) && (after != nil || !seededbug.Is(seededbug.IndexMissesDeletes)) {
			c.Rows.Remove(kv.MetadataPrefix(c.Scope, noun, key, old) + id + kv.Separator)
		}
		if has {
			c.Rows.Set(kv.MetadataPrefix(c.Scope, noun, key, value)+id+kv.Separator, kv.Indexed)
		}
	}
}

// DeclareMetadata replaces the declared keys of the commit's scope. The index of a key that is gone
// is removed, and that of a new one begins to be built.
func (c *Tx) DeclareMetadata(keys []string) error {
	keys = slices.Sorted(slices.Values(keys))
	for _, key := range c.Record.MetadataKeys {
		if slices.Contains(keys, key) {
			continue
		}
		for _, noun := range MetadataNouns {
			prefix := kv.MetadataKeysPrefix(c.Scope, noun, key)
			if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
				return err
			}
		}
	}
	added := slices.ContainsFunc(keys, func(key string) bool { return !slices.Contains(c.Record.MetadataKeys, key) })
	c.AddUsage(0, 0)
	c.Record.MetadataKeys = keys
	switch {
	case len(keys) == 0:
		c.Record.MetadataBuilding = false
		c.Rows.Remove(kv.MetadataBuildKey(c.Scope))
	case added:
		c.BuildMetadata()
	}
	return nil
}

// BuildMetadata begins to build the index of the commit's scope, or begins again.
func (c *Tx) BuildMetadata() {
	c.AddUsage(0, 0)
	c.Record.MetadataBuilding = true
	row := kv.MetadataBuildKey(c.Scope)
	c.Rows.Set(row, []byte(kv.ScopeKey(MetadataNouns[0], c.Scope)))
	c.SetExpiry(max(c.Progress.Wall, 1), row)
}

// EachListed visits the rows of a noun that a list selects, in pages; see EachInPage. noun is the kind
// of the rows. A list by metadata reads its index.
func (r Reader) EachListed(noun string, where agent.Where, page agent.Page, visit func(id string, raw []byte) (bytes int, err error)) (next string, err error) {
	if len(where) == 0 {
		return r.EachInPage(kv.ScopeKey(noun, r.Scope), page, visit)
	}
	raw, err := r.Get(kv.ScopeKey(kv.KindScope, r.Scope))
	if err != nil {
		return "", err
	}
	scope, err := DecodeScopeRow(r.Scope, raw)
	if err != nil {
		return "", err
	}
	if err := where.Declared(scope.MetadataKeys, scope.MetadataBuilding); err != nil {
		return "", err
	}
	at := where.Index()
	return r.eachInPage(kv.MetadataPrefix(r.Scope, noun, at.Key, at.Value), page, true, func(id string, _ []byte) (int, error) {
		raw, err := r.Get(kv.IDKey(noun, r.Scope, id))
		if err != nil {
			return 0, err
		}
		if raw == nil {
			return 0, agent.Errorf(agent.CodeCorrupt, "%q is in the index of metadata and does not exist", id)
		}
		return visit(id, raw)
	})
}
