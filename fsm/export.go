package fsm

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/kv"
	"dormouse/fsm/scoperow"
	"dormouse/fsm/session"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
)

// ExportScope passes the rows of a scope in the view to write, in key order. The first part has the
// header. Claims are not exported: the turn of a session with a lease is recoverable afterwards, as
// after a restore.
func (v *View) ExportScope(ctx context.Context, scope, cluster string, level uint32, write func(agent.ScopePart) error) error {
	if v.err != nil {
		return v.err
	}
	raw, err := v.Get(kv.ScopeKey(kv.KindScope, scope))
	if err != nil {
		return err
	}
	if raw == nil {
		return txn.NotFound("scope", scope)
	}
	record, err := txn.DecodeScopeRow(scope, raw)
	if err != nil {
		return err
	}
	if err := indexesComplete(v, level); err != nil {
		return err
	}
	if here, _ := v.deletions.Under(scope); here > 0 {
		return agent.Errorf(agent.CodeUnavailable, "%d deletions by prefix are under way in scope %q: retry once they are complete", here, scope)
	}
	base, err := readMintBase(v.view)
	if err != nil {
		return err
	}
	e := &export{live: func() error { return context.Cause(ctx) }, view: v, scope: scope, write: write}
	claims, err := e.claims()
	if err != nil {
		return err
	}
	record.Keys = txn.Saturate(record.Keys, -claims)
	header := &agent.ScopeHeader{
		ClusterID: cluster, Scope: record, Index: v.progress.Index, Minted: v.progress.Index + base + 1, FeatureLevel: level,
		RowFormat: agent.ScopeRowFormat, Time: v.progress.Wall,
	}
	if row := v.imports[scope]; row != nil {
		header.Import = row.Import
	}
	if err := write(agent.ScopePart{Header: header}); err != nil {
		return err
	}
	for _, kind := range txn.SortedKeys(scoperow.Moved) {
		if err := e.kind(kind); err != nil {
			return fmt.Errorf("export scope %q: %w", scope, err)
		}
	}
	return e.flush()
}

type export struct {
	live   func() error // the error of the caller's context
	view   *View
	scope  string
	write  func(agent.ScopePart) error
	chunk  []byte
	leased []string // keys of the rows that leased sessions get, in order
}

// claims counts the scope's claims and collects those that are leases of sessions.
func (e *export) claims() (n int64, err error) {
	err = e.each(kv.KindClaim, func(key, _ []byte) error {
		n++
		if session, ok := agent.ClaimedSession(strings.TrimSuffix(string(key[1:]), kv.Separator)); ok {
			e.leased = append(e.leased, kv.KindSessionRecoverable+session+kv.Separator)
		}
		return nil
	})
	slices.Sort(e.leased)
	return n, err
}

// each visits the rows of a kind, with the keys that an export gives them.
func (e *export) each(kind string, visit func(key, value []byte) error) error {
	prefix := kv.ScopeKey(kind, e.scope)
	cursor, err := e.view.view.Scan([]byte(prefix), []byte(kv.After(prefix)))
	if err != nil {
		return err
	}
	for n := 0; cursor.Next() && err == nil; n++ {
		if n%1024 == 0 {
			if err = e.live(); err != nil {
				break
			}
		}
		err = visit(append([]byte(kind), cursor.Key()[len(prefix):]...), cursor.Value())
	}
	if closed := cursor.Close(); err == nil {
		err = closed
	}
	return err
}

func (e *export) kind(kind string) error {
	switch kind {
	case kv.KindSessionRecoverable:
		return e.recoverable()
	case kv.KindErasure:
		return e.each(kind, e.receipt)
	default:
		return e.each(kind, e.row)
	}
}

// receipt exports an erasure receipt without its index in this cluster's log, which only fences
// instances of this cluster.
func (e *export) receipt(key, value []byte) error {
	row := &logpb.Erasure{}
	if err := command.Unmarshal(value, row); err != nil {
		return fmt.Errorf("decode receipt %q: %w", key, err)
	}
	row.ErasedIndex = 0
	return e.row(key, command.Marshal(row))
}

// recoverable exports the rows that list recoverable sessions, including all sessions with a lease.
func (e *export) recoverable() error {
	leased := e.leased
	err := e.each(kv.KindSessionRecoverable, func(key, value []byte) error {
		for ; len(leased) > 0 && leased[0] <= string(key); leased = leased[1:] {
			if leased[0] == string(key) {
				continue
			}
			if err := e.row([]byte(leased[0]), session.RecoverableRow(0)); err != nil {
				return err
			}
		}
		return e.row(key, value)
	})
	for ; err == nil && len(leased) > 0; leased = leased[1:] {
		err = e.row([]byte(leased[0]), session.RecoverableRow(0))
	}
	return err
}

func (e *export) row(key, value []byte) error {
	if size := len(key) + len(value); len(e.chunk) > 0 && len(e.chunk)+size > agent.ScopeChunkBytes {
		if err := e.flush(); err != nil {
			return err
		}
	}
	e.chunk = agent.AppendScopeRow(e.chunk, agent.ScopeRow{Key: key, Value: value})
	return nil
}

func (e *export) flush() error {
	if len(e.chunk) == 0 {
		return nil
	}
	part := agent.ScopePart{Rows: e.chunk}
	e.chunk = nil // write may have kept the part
	return e.write(part)
}

// indexesComplete refuses an export while an index lacks rows: an import does not add them.
func indexesComplete(rows kv.Reader, level uint32) error {
	for _, f := range backfills {
		if level < f.Level {
			continue
		}
		complete, err := f.Complete(rows)
		if err != nil {
			return err
		}
		if !complete {
			return agent.Errorf(agent.CodeUnavailable, "the indexes of the new feature level are not complete yet: retry later")
		}
	}
	return nil
}
