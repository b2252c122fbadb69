// Package fork drives forks of threads and sessions. It checks that a fork shows the
// history of its origin.
package fork

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// fork forks threads and sessions, and forks of forks, while their origins go on, are
// compacted, deleted and recreated. A key is a family: a thread and a session of that
// name, and all forks of them.
type fork struct {
	keys  *workload.Keys
	names atomic.Int64 // number of writes and forks so far; numbers them

	mu       sync.Mutex
	families map[string]*family // :: key → its family; guarded by mu, including the contents
}

// family is what the processes know of a key.
type family struct {
	threads, sessions []string // ids of the forks, oldest first
	rev               uint64   // rev of the first thread in the last answer to an append
}

const (
	callsMax  = 300 // picks of a key; a pick makes one or two calls
	forksOpen = 6   // only the newest forks of a family are read and forked again
)

// New returns workload fork.
func New() workload.Workload {
	return &fork{keys: workload.NewKeys("fork", 2, callsMax), families: map[string]*family{}}
}

func (*fork) Name() string { return "fork" }

func (*fork) About() string {
	return "threads and sessions forked while the originals go on, are compacted and deleted: a fork always shows its origin as of the fork"
}

// The calls. A read reads one thread or session.
const (
	callFork    = "fork"
	callCompact = "compact"
	callDelete  = "delete"
)

// forkCall is the input of a call.
type forkCall struct {
	ID       string  `json:"id"`
	Session  bool    `json:"session,omitempty"`  // a session, otherwise a thread
	Name     string  `json:"name,omitempty"`     // of the written content
	Revision uint64  `json:"revision,omitempty"` // of a put: expected revision, 0 for none
	New      string  `json:"new,omitempty"`      // id of the fork
	At       *uint64 `json:"at,omitempty"`       // of a fork: the rev; nil for the current one
	Before   uint64  `json:"before,omitempty"`   // of a compaction

	Incarnation uint64 `json:"incarnation,omitempty"` // of an append: required incarnation, 0 for any
}

// forkSeen is the state of a thread or a session that a call left or found; of a fork,
// the state of the new object. Incarnation 0 means that it does not exist.
type forkSeen struct {
	Index       uint64   `json:"index"`
	Incarnation uint64   `json:"incarnation,omitempty"`
	Version     uint64   `json:"version,omitempty"` // a thread's rev, a session's revision
	From        *origin  `json:"from,omitempty"`    // of a fork, if the answer has it
	Floor       uint64   `json:"floor,omitempty"`
	Names       []string `json:"names,omitempty"` // of a read: a thread's entries from its floor on, or the last writer of a session
}

// origin is the thread or session that a fork was made from.
type origin struct {
	ID          string `json:"id"`
	Incarnation uint64 `json:"incarnation"`
	Version     uint64 `json:"version"`
}

const mark = "/"

func isFork(id string) bool { return strings.Contains(id, mark) }

func (w *fork) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch draw := p.Rand.IntN(100); {
		case draw < 30:
			w.append(ctx, p, key)
		case draw < 37:
			w.appendToFork(ctx, p, key)
		case draw < 47:
			w.put(ctx, p, key)
		case draw < 62:
			w.fork(ctx, p, key, draw < 55)
		case draw < 69:
			w.compact(ctx, p, key)
		case draw < 71:
			_, _ = w.call(ctx, p, callDelete, key, forkCall{ID: key, Session: draw == 69})
		case draw < 76:
			w.deleteFork(ctx, p, key, draw < 73)
		default:
			session := p.Rand.IntN(3) == 0
			_, _ = w.read(ctx, p, key, forkCall{ID: w.some(p, key, session), Session: session})
		}
	}
}

// Final reads the first thread and session of each family, and the newest forks.
func (w *fork) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		w.mu.Lock()
		f := *w.family(key)
		w.mu.Unlock()
		for _, session := range []bool{false, true} {
			all := f.threads
			if session {
				all = f.sessions
			}
			for _, id := range append([]string{key}, all[max(0, len(all)-forksOpen):]...) {
				if _, err := w.read(ctx, p, key, forkCall{ID: id, Session: session}); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// family returns the family of a key; the caller holds mu.
func (w *fork) family(key string) *family {
	f := w.families[key]
	if f == nil {
		f = &family{}
		w.families[key] = f
	}
	return f
}

// some returns one of the newest forks of a family, or sometimes the first object.
func (w *fork) some(p *workload.Process, key string, session bool) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := w.family(key).threads
	if session {
		all = w.family(key).sessions
	}
	if back := p.Rand.IntN(forksOpen + 1); back < len(all) && back < forksOpen {
		return all[len(all)-1-back]
	}
	return key
}

func (w *fork) append(ctx context.Context, p *workload.Process, key string) {
	seen, err := w.call(ctx, p, workload.CallAppend, key, forkCall{ID: key, Name: workload.WriteName(p, w.names.Add(1))})
	if err == nil {
		w.mu.Lock()
		w.family(key).rev = seen.Version
		w.mu.Unlock()
	}
}

// appendToFork appends to a fork if it exists.
func (w *fork) appendToFork(ctx context.Context, p *workload.Process, key string) {
	id := w.some(p, key, false)
	seen, err := w.read(ctx, p, key, forkCall{ID: id})
	if err == nil && seen.Incarnation > 0 {
		_, _ = w.call(ctx, p, workload.CallAppend, key, forkCall{ID: id, Name: workload.WriteName(p, w.names.Add(1)), Incarnation: seen.Incarnation})
	}
}

// put writes the first session or creates it.
func (w *fork) put(ctx context.Context, p *workload.Process, key string) {
	seen, err := w.read(ctx, p, key, forkCall{ID: key, Session: true})
	if err == nil {
		_, _ = w.call(ctx, p, workload.CallPut, key, forkCall{ID: key, Session: true, Name: workload.WriteName(p, w.names.Add(1)), Revision: seen.Version})
	}
}

// isChain reports whether the threads of a family are forked one from the other only, one key in
// three. Then no other fork of the first thread hides that a fork of a fork needs it.
func isChain(key string) bool { return strings.ContainsAny(key[len(key)-1:], "147") }

// chain forks the newest fork of the first thread, and deletes it.
func (w *fork) chain(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	f := w.family(key)
	in := forkCall{ID: key, New: key + mark + workload.WriteName(p, w.names.Add(1))}
	if n := len(f.threads); n > 0 {
		in.ID = f.threads[n-1]
	}
	f.threads = append(f.threads, in.New)
	w.mu.Unlock()
	_, err := w.call(ctx, p, callFork, key, in)
	switch {
	case err == nil && in.ID != key:
		_, _ = w.call(ctx, p, callDelete, key, forkCall{ID: in.ID})
	case agent.CodeOf(err) == agent.CodeNotFound || agent.CodeOf(err) == agent.CodeDeleted: // the next one begins with the first thread
		w.mu.Lock()
		f.threads = nil
		w.mu.Unlock()
	}
}

func (w *fork) fork(ctx context.Context, p *workload.Process, key string, session bool) {
	if !session && isChain(key) {
		w.chain(ctx, p, key)
		return
	}
	in := forkCall{Session: session, ID: key, New: key + mark + workload.WriteName(p, w.names.Add(1))}
	if p.Rand.IntN(3) == 0 {
		in.ID = w.some(p, key, session)
	}
	w.mu.Lock()
	f := w.family(key)
	if !session && p.Rand.IntN(2) == 0 {
		at := p.Rand.Uint64N(f.rev + 1)
		in.At = &at
	}
	if session { // other processes may use it before this call returns
		f.sessions = append(f.sessions, in.New)
	} else {
		f.threads = append(f.threads, in.New)
	}
	w.mu.Unlock()
	_, _ = w.call(ctx, p, callFork, key, in)
}

func (w *fork) compact(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	rev := w.family(key).rev
	w.mu.Unlock()
	if rev > 0 {
		_, _ = w.call(ctx, p, callCompact, key, forkCall{ID: key, Before: 1 + p.Rand.Uint64N(rev)})
	}
}

// deleteFork deletes a random fork, so that its origin can be compacted further.
func (w *fork) deleteFork(ctx context.Context, p *workload.Process, key string, session bool) {
	w.mu.Lock()
	all := w.family(key).threads
	if session {
		all = w.family(key).sessions
	}
	w.mu.Unlock()
	if len(all) > 0 {
		_, _ = w.call(ctx, p, callDelete, key, forkCall{ID: all[p.Rand.IntN(len(all))], Session: session})
	}
}

// call commits the op of a call.
func (*fork) call(ctx context.Context, p *workload.Process, call, key string, in forkCall) (forkSeen, error) {
	return workload.Call(ctx, p, call, key, true, in, func(ctx context.Context) (forkSeen, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{in.op(call)}})
		if err != nil {
			return forkSeen{}, err
		}
		out := forkSeen{Index: result.Index}
		for _, r := range result.Results {
			switch r := r.(type) {
			case *agent.ThreadResult:
				out.thread(r.Thread)
			case *agent.SessionResult:
				out.Incarnation, out.Version = r.Session.Incarnation, r.Session.Revision
			case *agent.DeleteResult:
				if workload.Told(r) {
					out.Incarnation = r.Incarnation
				}
			default:
				return forkSeen{}, agent.Errorf(agent.CodeInternal, "the result is a %T", r)
			}
		}
		return out, nil
	})
}

func (c forkCall) op(call string) agent.Op {
	switch {
	case call == workload.CallAppend:
		return &agent.AppendThread{Thread: c.ID, Entries: []agent.Draft{{Payload: workload.MarkOf(c.Name)}}, IfIncarnation: c.Incarnation}
	case call == callCompact:
		return &agent.CompactThread{Thread: c.ID, BeforeSeq: c.Before}
	case call == workload.CallPut:
		return &agent.PutSession{Session: c.ID, Agent: c.ID, Conversation: &agent.Conversation{AgentState: workload.MarkOf(c.Name)}, IfRevision: &c.Revision}
	case call == callFork && c.Session:
		return &agent.ForkSession{Session: c.ID, NewSession: c.New}
	case call == callFork:
		return &agent.ForkThread{Thread: c.ID, NewThread: c.New, AtRev: c.At}
	case call == callDelete && c.Session:
		return &agent.DeleteSession{Session: c.ID}
	case call == callDelete:
		return &agent.DeleteThread{Thread: c.ID}
	default:
		panic(fmt.Sprintf("call %q", call))
	}
}

func (s *forkSeen) thread(t agent.Thread) {
	s.Incarnation, s.Version, s.Floor = t.Incarnation, t.Rev, t.Floor
	if f := t.ForkedFrom; f != nil {
		s.From = &origin{f.Thread, f.Incarnation, f.Rev}
	}
}

func (s *forkSeen) found(found agent.Found) {
	switch found := found.(type) {
	case *agent.Thread:
		s.thread(*found)
	case *agent.Entries:
		for _, e := range found.Items {
			s.Names = append(s.Names, workload.NameIn(e.Payload))
		}
	case *agent.Session:
		s.Incarnation, s.Version = found.Incarnation, found.Revision
		s.Names = []string{workload.NameIn(found.Conversation.AgentState)}
		if l := found.Lineage; l != nil {
			s.From = &origin{l.Session, l.Incarnation, l.Revision}
		}
	}
}

// read reads a whole thread, or a session.
func (*fork) read(ctx context.Context, p *workload.Process, key string, in forkCall) (forkSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, in, func(ctx context.Context) (forkSeen, error) {
		// A page of entries alone does not tell where its thread comes from.
		reads := []agent.Read{&agent.GetThread{Thread: in.ID}, &agent.LoadEntries{Thread: in.ID, Limit: agent.EntriesLimitMax}}
		if in.Session {
			reads = []agent.Read{&agent.GetSession{Session: in.ID}}
		}
		index, answers, err := workload.FindAll(ctx, p, reads...)
		if err != nil {
			return forkSeen{}, err
		}
		out := forkSeen{Index: index}
		for _, found := range answers {
			out.found(found)
		}
		return out, nil
	})
}
