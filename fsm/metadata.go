package fsm

import (
	"fmt"
	"slices"

	"dormouse/agent"
	"dormouse/fsm/checkpoint"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// One log entry adds at most so many rows to the index of a scope's metadata, and stops earlier once
// it has read so many bytes.
const (
	metadataRowsMax  = 256
	metadataBytesMax = 4 << 20
)

// indexMetadata runs index_metadata.
func indexMetadata(c *txn.Tx, op *agent.IndexMetadata) (agent.OpResult, error) {
	if err := agent.ValidMetadataKeys(op.Keys); err != nil {
		return nil, err
	}
	if c.Level < txn.MetadataLevel { // the leader refuses it
		return nil, agent.Errorf(agent.CodeUnavailable, "not all nodes of the cluster support index_metadata yet: try again once they all run this version")
	}
	if err := c.DeclareMetadata(op.Keys); err != nil {
		return nil, err
	}
	c.Changed(agent.ChangedScope, c.Scope, 0)
	result := c.Record.Scope
	result.Policy = c.Policy()
	return &agent.ScopeResult{Scope: result}, nil
}

// buildMetadata adds the next rows to the index of a scope's metadata. cost is their share of what one
// entry may sweep.
func buildMetadata(c *txn.Tx, row, _ string, _ int64) (cost int, err error) {
	cursor, err := c.Rows.Get(row)
	if err != nil || cursor == nil {
		return 0, err // the keys were withdrawn, or the scope was deleted
	}
	next, rows, size := string(cursor), 0, 0
	for rows < metadataRowsMax && size < metadataBytesMax && next != "" {
		noun := next[:1]
		keys, more, err := c.Rows.Keys(next, kv.After(kv.ScopeKey(noun, c.Scope)), metadataRowsMax-rows)
		if err != nil {
			return 0, err
		}
		for i, key := range keys {
			read, err := addMetadata(c, key)
			if err != nil {
				return 0, err
			}
			rows, size = rows+1, size+read
			if next = key + kv.Separator; size >= metadataBytesMax {
				more = more || i < len(keys)-1
				break
			}
		}
		if !more {
			next = nextNoun(c.Scope, noun)
		}
	}
	if next == "" {
		c.Rows.Remove(row)
		c.AddUsage(0, 0)
		c.Record.MetadataBuilding = false
	} else {
		c.Rows.Set(row, []byte(next))
		c.SetExpiry(max(c.Progress.Wall, 1), row)
	}
	return max(1, txn.SweepMax*rows/metadataRowsMax), nil
}

// nextNoun returns where the build goes on after all rows of a noun; "" means that it is complete.
func nextNoun(scope, noun string) string {
	if i := slices.Index(txn.MetadataNouns, noun); i < len(txn.MetadataNouns)-1 {
		return kv.ScopeKey(txn.MetadataNouns[i+1], scope)
	}
	return ""
}

// addMetadata adds a row to the index, and returns how many bytes it read.
func addMetadata(c *txn.Tx, key string) (read int, err error) {
	noun, _, id, ok := kv.SplitID(key)
	if !ok {
		return 0, fmt.Errorf("the key %q names no row with metadata", key)
	}
	raw, err := c.Rows.Get(key)
	if err != nil {
		return 0, err
	}
	var metadata agent.JSON
	switch noun {
	case kv.KindValue:
		row, err := command.Decode[logpb.ValueRow](raw, "value", id)
		if err != nil {
			return 0, err
		}
		metadata = row.Metadata
	case kv.KindCheckpoint:
		row, err := command.DecodeCheckpointRow(id, raw)
		if err != nil {
			return 0, err
		}
		body, err := checkpoint.Body(c, id, row)
		if err != nil {
			return 0, err
		}
		metadata, read = body.Metadata, int(row.Size)
	default:
		raw, err := c.Rows.Get(kv.IDKey(kv.KindSessionBody, c.Scope, id))
		if err != nil {
			return 0, err
		}
		body, err := command.Decode[logpb.SessionBody](raw, "body of session", id)
		if err != nil {
			return 0, err
		}
		metadata, read = body.Metadata, len(raw)
	}
	c.IndexMetadata(noun, id, nil, metadata)
	return read + len(raw), nil
}
