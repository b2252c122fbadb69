package fsm

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"dormouse/agent"
	"dormouse/fsm/command"
	"dormouse/fsm/erasure"
	"dormouse/fsm/kv"
	"dormouse/fsm/scoperow"
	"dormouse/fsm/txn"
	logpb "dormouse/proto/log"
	oppb "dormouse/proto/op"
	"dormouse/storage"
)

// An import writes the rows of an exported scope into an empty scope, byte for byte, in steps of
// one commit each. Until it ends, all other reads and writes of the scope are refused. Expiry times
// are kept in kv.KindImportDue rows, so that no sweep sees half a scope. The steps that end the
// import move them to the queue.

// imports holds the imports of existing scopes, by scope. Neither the map nor its rows are changed
// in place.
type imports map[string]*logpb.ImportRow

// ImportLevel is the feature level from which on all nodes know import_scope.
const ImportLevel = txn.EndingLevel

// importDueMax is how many rows one step adds to the queue.
const importDueMax = 1024

// mintBaseKey names the row of the number that mint adds to a log index. Imports raise it beyond
// what the source cluster has assigned.
const mintBaseKey = kv.KindSystem + "minted"

func readImports(r storage.Reader) (imports, error) {
	all := imports{}
	err := txn.EachRow(r, kv.KindImport, func(name string, raw []byte) error {
		row := &logpb.ImportRow{}
		if err := command.Unmarshal(raw, row); err != nil {
			return fmt.Errorf("decode the import of scope %q: %w", name, err)
		}
		all[strings.TrimSuffix(name, kv.Separator)] = row
		return nil
	})
	return all, err
}

func readMintBase(r storage.Reader) (uint64, error) {
	raw, _, err := r.Get([]byte(mintBaseKey))
	return kv.DecodeNumber(raw), err
}

// underWay returns the unfinished imports of two states.
func underWay(before, after imports) imports {
	var all imports
	for _, some := range []imports{before, after} {
		for scope, row := range some {
			if !row.Done {
				if all == nil {
					all = imports{}
				}
				all[scope] = row
			}
		}
	}
	return all
}

// importing returns the error of a read or write during an import of its scope.
func importing(scope string, row *logpb.ImportRow) *agent.Error {
	return agent.Errorf(agent.CodeConflict, "scope %q is being imported (import %q, %d chunks applied): "+
		"wait until the import has ended, or delete the scope to give it up", scope, row.Import, row.Chunks)
}

// writable refuses other writes while a scope is being imported.
func (b *batch) writable(p *logpb.Commit) error {
	row := b.imports[p.Scope]
	if row == nil || row.Done {
		return nil
	}
	if len(p.Ops) == 1 && len(p.ClusterOps) == 0 {
		switch p.Ops[0].Op.(type) {
		case *oppb.Op_ImportScope, *oppb.Op_DeleteScope:
			return nil
		}
	}
	if b.Level >= txn.TokensApartLevel && len(p.ClusterOps) == 0 && !slices.ContainsFunc(p.Ops, isOfScope) {
		return nil
	}
	return importing(p.Scope, row)
}

// isOfScope reports whether an op reads or writes the scope of its commit. Tokens and the default policy
// are of no scope.
func isOfScope(op *oppb.Op) bool {
	switch op := op.Op.(type) {
	case *oppb.Op_PutToken, *oppb.Op_RevokeToken:
		return false
	case *oppb.Op_PutScope:
		return !op.PutScope.GetDefault()
	default:
		return true
	}
}

// readable refuses reads of a scope's data while it is being imported.
func (v *View) readable(scope string, r agent.Read) error {
	row := v.imports[scope]
	if row == nil {
		return nil
	}
	switch r.(type) {
	case *agent.ListScopes, *agent.GetScope, *agent.GetAnswer, *agent.GetToken, *agent.ListTokens:
		return nil
	}
	return importing(scope, row)
}

// setImport writes the row of the scope's import; nil removes it.
func (c machineCommit) setImport(row *logpb.ImportRow) {
	if row == nil && c.batch.imports[c.Scope] == nil {
		return
	}
	c.batch.importsSet = true
	c.batch.imports = maps.Clone(c.batch.imports)
	if row == nil {
		delete(c.batch.imports, c.Scope)
		c.Rows.Remove(kv.ScopeKey(kv.KindImport, c.Scope))
		return
	}
	c.batch.imports[c.Scope] = row
}

// storeImport calls setImport with a changed row and returns the op's result.
func (c machineCommit) storeImport(row *logpb.ImportRow) (agent.OpResult, error) {
	raw := command.Marshal(row)
	c.setImport(row)
	c.Rows.Set(kv.ScopeKey(kv.KindImport, c.Scope), raw)
	return importResult(row), nil
}

func importResult(row *logpb.ImportRow) *agent.ImportResult {
	return &agent.ImportResult{Chunks: row.Chunks, Done: row.Done}
}

func (c machineCommit) importScope(op *agent.ImportScope, alone bool) (agent.OpResult, error) {
	if !alone {
		return nil, agent.Invalid("ops", "import_scope must be the only op of its commit")
	}
	whole := agent.Commit{Ops: []agent.Op{op}} // the scope is validated by now
	if err := whole.Validate(); err != nil {   // the entry may come from another build
		return nil, err
	}
	row := c.batch.imports[c.Scope]
	switch {
	case row != nil && row.Import == op.ID && (op.Scope != nil || row.Done):
		return importResult(row), nil // a retry
	case op.Scope != nil:
		return c.beginImport(op, row)
	case row == nil || row.Import != op.ID:
		return nil, agent.Errorf(agent.CodeConflict, "import %q is not in progress in scope %q: begin it first", op.ID, c.Scope)
	case op.Finish:
		return c.finishImport(row)
	default:
		return c.importChunk(op, row)
	}
}

func (c machineCommit) beginImport(op *agent.ImportScope, row *logpb.ImportRow) (agent.OpResult, error) {
	if row != nil && !row.Done {
		return nil, importing(c.Scope, row)
	}
	for _, kind := range kv.ScopedKinds {
		if kind == kv.KindChange || kind == kv.KindImport {
			continue
		}
		prefix := kv.ScopeKey(kind, c.Scope)
		found, _, err := c.Rows.Keys(prefix, kv.After(prefix), 1)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			return nil, agent.Errorf(agent.CodeConflict, "scope %q is not empty, and an import needs an empty scope: "+
				"import into another scope, or delete this one", c.Scope)
		}
	}
	if op.Minted > agent.ScopeMintedMax && c.Level >= txn.ImportCountLevel {
		return nil, agent.Invalid("minted", "minted = %d must be at most %d: incarnations and epochs are numbers in JSON", op.Minted, uint64(agent.ScopeMintedMax))
	}
	if now := c.Progress.Index + c.MintBase; op.Minted > now {
		c.MintBase += op.Minted - now
		c.Rows.Set(mintBaseKey, []byte(kv.EncodeNumber(c.MintBase)))
	}
	state := txn.ScopeState{Scope: *op.Scope, Exists: true, Changed: true}
	state.Name = c.Scope
	if c.Level < txn.LimitsLevel {
		state.Policy, state.OwnPolicy = state.Policy.Legacy(), false
	}
	if c.Level < txn.MetadataLevel {
		state.MetadataKeys = nil
	}
	if err := agent.ValidMetadataKeys(state.MetadataKeys); err != nil {
		return nil, err
	}
	state.MetadataBuilding = len(state.MetadataKeys) > 0                  // from the end of the import on
	state.Agents, state.Threads, state.Entries, state.Timers = 0, 0, 0, 0 // the steps that follow count the rows
	if c.Level >= txn.ImportCountLevel {
		state.Keys, state.Bytes = 0, 0
	} else {
		c.Scopes[c.Scope] = state
	}
	c.Record = state
	if err := c.forgetOwnAnswers(); err != nil {
		return nil, err
	}
	return c.storeImport(&logpb.ImportRow{Import: op.ID, Counted: c.Level >= txn.ImportCountLevel})
}

// forgetOwnAnswers forgets the answers of the clients whose requests follow from what is stored. Those of
// an earlier scope of this name, and of this entry, would answer for the scope that is imported.
func (c machineCommit) forgetOwnAnswers() error {
	if c.Level < txn.ImportAnswersLevel {
		return nil
	}
	for _, client := range []string{agent.TimerClient, agent.MutationClient, agent.ImportClient} {
		for _, kind := range []string{kv.KindClient, kv.KindAnswers} {
			prefix := kv.ScopeKey(kind, c.Scope) + client
			if err := c.Rows.RemoveRange(prefix, kv.After(prefix)); err != nil {
				return err
			}
		}
		maps.DeleteFunc(c.batch.clients, func(id clientID, _ *clientState) bool {
			return id.scope == c.Scope && strings.HasPrefix(id.client, client)
		})
	}
	return nil
}

func (c machineCommit) importChunk(op *agent.ImportScope, row *logpb.ImportRow) (agent.OpResult, error) {
	switch {
	case op.Chunk < row.Chunks:
		return importResult(row), nil // a retry
	case op.Chunk > row.Chunks || row.Finishing:
		return nil, agent.Errorf(agent.CodeConflict, "chunk %d of import %q is not the next one: %d chunks are applied", op.Chunk, op.ID, row.Chunks)
	}
	for rest, n := op.Rows, 0; len(rest) > 0; n++ {
		var one agent.ScopeRow
		var err error
		if one, rest, err = agent.NextScopeRow(rest); err != nil {
			return nil, agent.Invalid("rows", "row %d of chunk %d: %v", n, op.Chunk, err)
		}
		m, due, err := scoperow.Check(one)
		if err == nil && c.Level >= txn.ImportCountLevel {
			err = scoperow.Valid(one, m, c.Progress.Index+c.MintBase)
		}
		if err != nil {
			return nil, agent.Invalid("rows", "row %d of chunk %d: %v", n, op.Chunk, err)
		}
		key := kv.ScopeKey(string(one.Key[:1]), c.Scope) + string(one.Key[1:])
		if err := c.importRow(row, key, bytes.Clone(one.Value), m); err != nil {
			return nil, err
		}
		if due > 0 {
			c.Rows.Set(kv.ScopeKey(kv.KindImportDue, c.Scope)+kv.EncodeNumber(uint64(due))+key, nil)
		}
	}
	if c.Level < txn.ImportCountLevel { // also if the step is refused later
		c.Scopes[c.Scope] = c.Record
	}
	return c.storeImport(&logpb.ImportRow{Import: row.Import, Chunks: row.Chunks + 1, Counted: row.Counted})
}

// closeScope is CloseScope without quotas during an import: the source has checked them.
func (c machineCommit) closeScope() error {
	if row := c.batch.imports[c.Scope]; row == nil || row.Done || c.Level < txn.ImportCountLevel {
		return c.CloseScope()
	}
	c.Scopes[c.Scope] = c.Record
	return nil
}

// importRow writes a row of an import and counts it. m is the message in its value, or nil. An import that began below
// txn.ImportCountLevel has the keys and bytes of its header.
func (c machineCommit) importRow(of *logpb.ImportRow, key string, value []byte, m command.Coded) error {
	if of.Counted {
		if err := c.countUsage(key, value, m); err != nil {
			return err
		}
	}
	if c.Level >= txn.LimitsLevel && txn.Counted(key) {
		old, err := c.Rows.Get(key)
		if err != nil {
			return err
		}
		if err := c.CountImported(key, old, value); err != nil {
			return err
		}
	}
	c.Rows.Set(key, value)
	return nil
}

// countUsage counts the keys and bytes of a row of an import, in place of those of the row that it replaces. m is the
// message in its value, or nil.
func (c machineCommit) countUsage(key string, value []byte, m command.Coded) error {
	keys, bytes, err := scoperow.Usage(c.Tx, key, value, m)
	if err != nil || keys == 0 && bytes == 0 {
		return err
	}
	old, err := c.Rows.Get(key)
	if err != nil {
		return err
	}
	if old != nil {
		before, _, err := scoperow.Check(agent.ScopeRow{Key: []byte(key[:1] + key[len(kv.ScopeKey(key[:1], c.Scope)):]), Value: old})
		if err != nil {
			return err
		}
		k, b, err := scoperow.Usage(c.Tx, key, old, before)
		if err != nil {
			return err
		}
		keys, bytes = keys-k, bytes-b
	}
	c.AddUsage(keys, bytes)
	return nil
}

// finishImport adds expiry times to the queue, as many as fit into one step. The last step opens
// the scope.
func (c machineCommit) finishImport(row *logpb.ImportRow) (agent.OpResult, error) {
	next := &logpb.ImportRow{Import: row.Import, Chunks: row.Chunks, Finishing: true, Counted: row.Counted}
	prefix := kv.ScopeKey(kv.KindImportDue, c.Scope)
	keys, more, err := c.Rows.Keys(prefix, kv.After(prefix), importDueMax)
	if err != nil {
		return nil, err
	}
	for _, key := range keys {
		c.Rows.Remove(key)
		when, due, ok := kv.SplitDue(key[len(prefix)-1:])
		if !ok {
			return nil, fmt.Errorf("the import of scope %q holds a key of %d bytes", c.Scope, len(key))
		}
		c.SetExpiry(int64(when), due)
	}
	if !more {
		next.Done, c.batch.imported = true, true
		if c.HasMetadataIndex() {
			c.BuildMetadata()
		}
		c.RecordChange(nil) // tells watchers of the scope's changes to read it again
		c.NotifyWatchers(kv.ScopeKey(kv.KindThread, c.Scope))
		c.NotifyWatchers(kv.ScopeKey(kv.KindClaim, c.Scope))
		c.NotifyWatchers(kv.TimersDueKey)
		c.NotifyWatchers(erasure.EndingsKey)
	}
	return c.storeImport(next)
}

// guarded calls run on a scope. An import's rows come from a client, and each has only been checked
// by itself. So if rows of an imported scope are inconsistent, guarded refuses the request as
// corrupt: it must not stop the replicas.
func (b *batch) guarded(scope string, run func() ([]agent.OpResult, error)) (results []agent.OpResult, err error) {
	if b.imports[scope] == nil {
		return run()
	}
	defer func() {
		if p := recover(); p != nil {
			results, err = nil, corruptImport(scope, fmt.Errorf("%v", p))
		}
	}()
	results, err = run()
	if _, refusal := err.(*agent.Error); err == nil || refusal { //nolint:errorlint // as in decide
		return results, err
	}
	if engine := (*kv.EngineError)(nil); errors.As(err, &engine) {
		return nil, err
	}
	return nil, corruptImport(scope, err)
}

func corruptImport(scope string, err error) *agent.Error {
	return agent.Errorf(agent.CodeCorrupt, "rows of scope %q, which was imported, are inconsistent: %v", scope, err)
}
