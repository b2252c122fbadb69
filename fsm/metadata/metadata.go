// Package metadata declares the keys of a scope's index of metadata, and builds the index.
//
// Package txn has the rows: the nouns replace them as they write. A row that is older than a key gets
// its index rows here, a bounded number in each log entry.
package metadata

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
	rowsMax  = 256
	bytesMax = 4 << 20
)

// Ops are the ops on the index of metadata.
var Ops = []txn.Op{txn.OpOf(Declare)}

// Declare runs index_metadata.
func Declare(c *txn.Tx, op *agent.IndexMetadata) (agent.OpResult, error) {
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

// Build adds the next rows to the index of a scope's metadata, which the row of the build names. cost
// is their share of what one entry may sweep.
func Build(c *txn.Tx, row, _ string, _ int64) (cost int, err error) {
	cursor, err := c.Rows.Get(row)
	if err != nil || cursor == nil {
		return 0, err // the keys were withdrawn, or the scope was deleted
	}
	next, rows, size := string(cursor), 0, 0
	for rows < rowsMax && size < bytesMax && next != "" {
		noun := next[:1]
		keys, more, err := c.Rows.Keys(next, kv.After(kv.ScopeKey(noun, c.Scope)), rowsMax-rows)
		if err != nil {
			return 0, err
		}
		for i, key := range keys {
			read, err := addRow(c, key)
			if err != nil {
				return 0, err
			}
			rows, size = rows+1, size+read
			if next = key + kv.Separator; size >= bytesMax {
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
	return max(1, txn.SweepMax*rows/rowsMax), nil
}

// nextNoun returns where the build goes on after all rows of a noun; "" means that it is complete.
func nextNoun(scope, noun string) string {
	if i := slices.Index(txn.MetadataNouns, noun); i < len(txn.MetadataNouns)-1 {
		return kv.ScopeKey(txn.MetadataNouns[i+1], scope)
	}
	return ""
}

// addRow adds a row to the index, and returns how many bytes it read.
func addRow(c *txn.Tx, key string) (read int, err error) {
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
