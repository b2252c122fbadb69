// Package export drives exports of scopes under writes, and imports of them into other scopes. It
// checks that an export is the state at one index, and that an import gives that state.
package export

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// export writes to scopes, one for each key: each commit appends an entry to a thread, puts a value of
// its own and overwrites a value that all share. So a state shows by itself whether it is of one index.
// Some processes export a scope, import it into a new one, and read that.
type export struct {
	keys  *workload.Keys
	names atomic.Int64 // number of commits and imports so far; numbers them

	mu     sync.Mutex
	copies map[string]bool // scopes of imports that are not known to be deleted; guarded by mu
}

const (
	keysAtOnce = 1
	callsMax   = 300
	thread     = "log"
	shared     = "newest" // the key of the value that all commits write
	ownPrefix  = "own-"   // of the keys of the values that only one commit writes

	// importMax bounds an export with its import.
	importMax = 10 * time.Second
)

// New returns workload export.
func New() workload.Workload {
	return &export{keys: workload.NewSharedKeys("x", keysAtOnce, callsMax), copies: map[string]bool{}}
}

func (*export) Name() string { return "export" }

func (*export) About() string {
	return "scopes exported while they are written, and imported into others: an export is the state at one index, and an import gives exactly that state"
}

// callExport is an export with its import, and the read of the imported scope.
const callExport = "export"

// commit is the input of a commit.
type commit struct {
	Name string `json:"name"`
}

// state is the answer of a read of a whole scope, of its export, or of a commit, which has Index, Rev
// and Head alone.
type state struct {
	Index  uint64   `json:"index"` // of the read; of an export its header's
	Rev    uint64   `json:"rev"`
	Head   string   `json:"head,omitempty"`   // of the thread's chain, which covers all of its entries
	Names  []string `json:"names,omitempty"`  // of the thread's entries
	Own    []string `json:"own,omitempty"`    // of the values that only one commit writes, sorted
	Newest string   `json:"newest,omitempty"` // the shared value
}

func (w *export) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch draw := p.Rand.IntN(20); {
		case draw < 14:
			w.write(ctx, p, key)
		case draw < 18:
			_, _ = read(ctx, p, key)
		default:
			_ = w.copied(ctx, p, key)
		}
	}
}

// scopeOf returns the scope of a key.
func scopeOf(p *workload.Process, key string) string { return p.Scope + "-" + key }

func (w *export) write(ctx context.Context, p *workload.Process, key string) {
	in := commit{Name: workload.WriteName(p, w.names.Add(1))}
	_, _ = workload.Call(ctx, p, workload.CallCommit, key, true, in, func(ctx context.Context) (state, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: scopeOf(p, key), Ops: []agent.Op{
			&agent.AppendThread{Thread: thread, Entries: []agent.Draft{{Payload: workload.MarkOf(in.Name)}}},
			&agent.PutValue{Key: ownPrefix + in.Name, Bytes: workload.MarkOf(in.Name)},
			&agent.PutValue{Key: shared, Bytes: workload.MarkOf(in.Name)},
		}})
		if err != nil {
			return state{}, err
		}
		appended, ok := result.Results[0].(*agent.ThreadResult)
		if !ok {
			return state{}, agent.Errorf(agent.CodeInternal, "an append was answered with a %T", result.Results[0])
		}
		return state{Index: result.Index, Rev: appended.Thread.Rev, Head: appended.Thread.Head.String()}, nil
	})
}

func read(ctx context.Context, p *workload.Process, key string) (state, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (state, error) {
		return readScope(ctx, p, scopeOf(p, key))
	})
}

// readScope reads all of a scope at one index.
func readScope(ctx context.Context, p *workload.Process, scope string) (state, error) {
	answers, err := p.Client.Read(ctx, agent.Reads{Scope: scope, Reads: []agent.Read{
		&agent.LoadEntries{Thread: thread, Limit: agent.EntriesLimitMax}, &agent.GetValue{Key: shared},
		&agent.ListValues{Page: agent.Page{Prefix: ownPrefix, Limit: agent.ListLimitMax}},
	}})
	if err != nil {
		return state{}, err
	}
	out := state{Index: answers.Index}
	for _, a := range answers.Answers {
		if a.Err != nil && a.Err.Code != agent.CodeNotFound {
			return state{}, a.Err
		}
		switch found := a.Found.(type) {
		case *agent.Entries:
			out.Rev, out.Head = found.Thread.Rev, found.Thread.Head.String()
			for _, e := range found.Items {
				out.Names = append(out.Names, workload.NameIn(e.Payload))
			}
		case *agent.Value:
			out.Newest = workload.NameIn(found.Bytes)
		case *agent.ValueList:
			for _, row := range found.Items {
				out.Own = append(out.Own, row.Key[len(ownPrefix):])
			}
		}
	}
	return out, nil
}

// exporter is a client that exports scopes.
type exporter interface {
	ExportScope(ctx context.Context, scope string, write func(agent.ScopePart) error) error
}

// copied exports a scope, imports it into a new one, reads and deletes that.
func (w *export) copied(ctx context.Context, p *workload.Process, key string) error {
	to := fmt.Sprintf("%s-copy-%d", scopeOf(p, key), w.names.Add(1))
	source, may := p.Client.(exporter)
	if !may { // of another protocol, which has no such call
		return nil
	}
	_, err := workload.CallFor(ctx, importMax, p, callExport, key, false, struct{}{}, func(ctx context.Context) (state, error) {
		var header *agent.ScopeHeader
		var chunks [][]byte
		if err := source.ExportScope(ctx, scopeOf(p, key), func(part agent.ScopePart) error {
			if part.Header != nil { // the stream began again, or begins
				header, chunks = part.Header, nil
			}
			if len(part.Rows) > 0 {
				chunks = append(chunks, part.Rows)
			}
			return nil
		}); err != nil {
			return state{}, err
		}
		if header == nil {
			return state{}, agent.Errorf(agent.CodeInternal, "the export has no header")
		}
		w.mu.Lock()
		w.copies[to] = true
		w.mu.Unlock()
		if err := load(ctx, p, to, header, chunks); err != nil {
			return state{}, err
		}
		out, err := readScope(ctx, p, to)
		if err != nil {
			return state{}, err
		}
		out.Index = header.Index
		_ = w.remove(ctx, p, to) // Final tries again
		return out, nil
	})
	return err
}

// remove deletes the scope of an import, complete or not: nothing else can be read in the latter.
func (w *export) remove(ctx context.Context, p *workload.Process, scope string) error {
	err := p.Client.In(scope).DeleteScope(ctx)
	if err != nil && agent.CodeOf(err) != agent.CodeNotFound {
		return err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.copies, scope)
	return nil
}

// load imports an export into an empty scope.
func load(ctx context.Context, p *workload.Process, to string, header *agent.ScopeHeader, chunks [][]byte) error {
	step := func(op agent.ImportScope) (*agent.ImportResult, error) {
		op.ID = to
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: to, Ops: []agent.Op{&op}})
		if err != nil {
			return nil, err
		}
		done, ok := result.Results[0].(*agent.ImportResult)
		if !ok {
			return nil, agent.Errorf(agent.CodeInternal, "a step of an import was answered with a %T", result.Results[0])
		}
		return done, nil
	}
	if _, err := step(agent.ImportScope{Scope: &header.Scope, Minted: header.Minted}); err != nil {
		return err
	}
	for i, rows := range chunks {
		if _, err := step(agent.ImportScope{Chunk: uint64(i), Rows: rows}); err != nil {
			return err
		}
	}
	for {
		done, err := step(agent.ImportScope{Finish: true})
		if err != nil || done.Done {
			return err
		}
	}
}

// Final deletes the imports that are left, and reads each scope, and a copy of the newest.
func (w *export) Final(ctx context.Context, p *workload.Process) error {
	w.mu.Lock()
	left := slices.Sorted(maps.Keys(w.copies))
	w.mu.Unlock()
	if err := workload.FinalReads(ctx, left, func(scope string) error { return w.remove(ctx, p, scope) }); err != nil {
		return err
	}
	all := w.keys.All()
	return workload.FinalReads(ctx, all, func(key string) error {
		_, err := read(ctx, p, key)
		if err == nil && key == all[len(all)-1] {
			err = w.copied(ctx, p, key)
		}
		return err
	})
}
