package memory

import (
	"errors"
	"strings"

	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	"dormouse/recall"
)

// memories is an agent's memories as the source of its index.
type memories struct {
	txn.Reader
	agent string
	whole *logpb.MemoryAgentRow
}

// State implements recall.Source.
func (m memories) State() recall.State {
	return recall.State{Generation: m.whole.Life, Writes: m.whole.Writes, Deletes: m.whole.Deletes}
}

// Written implements recall.Source.
func (m memories) Written(since uint64, visit func(recall.Doc, string, []float32)) error {
	if since == 0 {
		return m.all(visit)
	}
	prefix := kv.IDKey(kv.KindMemoryOrder, m.Scope, m.agent)
	return m.each(kv.MemoryOrderKey(m.Scope, m.agent, since+1), kv.After(prefix), func(_, value []byte) error {
		id := string(value)
		row, err := memoryRow(m.Reader, m.agent, id)
		if err != nil {
			return err
		}
		body, err := memoryBody(m.Reader, m.agent, id)
		if err == nil {
			visit(*docOf(id, row), memoryText(body), body.Embedding)
		}
		return err
	})
}

// all scans rows and bodies side by side, which is faster than single reads.
func (m memories) all(visit func(recall.Doc, string, []float32)) (err error) {
	prefix := kv.IDKey(kv.KindMemoryBody, m.Scope, m.agent)
	bodies, err := m.Engine.Scan([]byte(prefix), []byte(kv.After(prefix)))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, bodies.Close()) }()
	prefix = kv.IDKey(kv.KindMemory, m.Scope, m.agent)
	return m.each(prefix, kv.After(prefix), func(key, value []byte) error {
		id := strings.TrimSuffix(string(key[len(prefix):]), kv.Separator)
		row, err := command.DecodeMemoryRow(id, value)
		if err != nil {
			return err
		}
		var raw []byte
		if bodies.Next() && string(bodies.Key()[len(prefix):]) == id+kv.Separator {
			raw = bodies.Value()
		}
		body, err := command.DecodeMemoryBody(id, raw)
		if err == nil {
			visit(*docOf(id, row), memoryText(body), body.Embedding)
		}
		return err
	})
}

// Deleted implements recall.Source.
func (m memories) Deleted(since uint64, visit func(id string, before uint64)) (known bool, err error) {
	if since > m.whole.Deletes || m.whole.Deletes-since > memoryGoneMax {
		return false, nil
	}
	prefix := kv.IDKey(kv.KindMemoryGone, m.Scope, m.agent)
	err = m.each(kv.MemoryGoneKey(m.Scope, m.agent, since+1), kv.After(prefix), func(_, value []byte) error {
		gone, err := command.DecodeMemoryGone(value)
		if err == nil {
			visit(gone.Id, gone.Before)
		}
		return err
	})
	return true, err
}

// each visits the rows of a range; the visitor may keep the value.
func (m memories) each(lower, upper string, visit func(key, value []byte) error) (err error) {
	cursor, err := m.Engine.Scan([]byte(lower), []byte(upper))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cursor.Close()) }()
	for cursor.Next() {
		value := cursor.Value()
		if value == nil {
			return nil // Close returns the error
		}
		if err := visit(cursor.Key(), value); err != nil {
			return err
		}
	}
	return nil
}

// docOf returns the fields of a memory that an index holds.
func docOf(id string, row *logpb.MemoryRow) *recall.Doc {
	return &recall.Doc{
		ID: id, Order: row.Order, Session: row.Session, Class: row.Class, Kind: row.Kind, Tags: row.Tags,
		ObservedAt: row.ObservedAt, ExpiresAt: row.ExpiresAt,
	}
}
