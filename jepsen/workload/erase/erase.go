// Package erase drives erasures of stored agents and of live instances. It checks that
// no part of an erased agent is read again.
package erase

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// erase writes agents, erases them and creates them again. A write is one commit. It
// leaves an entry in the agent's thread, its checkpoint, a memory and some sessions,
// or some of these, all with its name. Some writes have so many sessions that an
// erasure takes several log entries. Some calls write to a session of an earlier
// incarnation. Some erasures seal the agent for a while.
type erase struct {
	keys  *workload.Keys
	names atomic.Int64 // number of writes so far; numbers them

	mu       sync.Mutex
	sessions map[string][]eraseCall // :: agent → created sessions, oldest first, as input for late calls; guarded by mu
}

const (
	callsMax     = 250
	manySessions = 150 // sessions of one write: more than one log entry erases
	lateMax      = 30  // a late call is for one of the last lateMax sessions
	sessionSep   = "/"
)

// New returns workload erase.
func New() workload.Workload {
	return &erase{keys: workload.NewKeys("agent", 2, callsMax), sessions: map[string][]eraseCall{}}
}

func (*erase) Name() string { return "erase" }

func (*erase) About() string {
	return "agents written, erased and recreated: an acknowledged erasure hides the whole agent at once, and no late write restores any part of it"
}

// The calls besides read.
const (
	callErase = "erase"
	callLate  = "late" // writes to a session, if it still has the given incarnation
)

// eraseCall is the input of a write with a unique name, of an erasure, or of a late
// call.
type eraseCall struct {
	Name     string        `json:"name,omitempty"` // of a late call: the write that created the session
	Journal  bool          `json:"journal,omitempty"`
	Memory   bool          `json:"memory,omitempty"`
	Sessions uint64        `json:"sessions,omitempty"`
	Seal     time.Duration `json:"seal,omitempty"`

	Incarnation uint64 `json:"incarnation,omitempty"` // of a late call: the session's incarnation
	Since       uint64 `json:"since,omitempty"`       // of a late call: the index at which the session was created
}

// eraseSeen is the state of an agent that a call left or found.
type eraseSeen struct {
	Index   uint64        `json:"index"`
	Time    int64         `json:"time,omitempty"` // of a write: the log's time, in Unix ms
	Receipt *eraseReceipt `json:"receipt,omitempty"`

	Checkpoint string            `json:"checkpoint,omitempty"` // of a read: the write that left it
	Thread     []string          `json:"thread,omitempty"`     // of a read: the entries
	Memories   []string          `json:"memories,omitempty"`
	Recalled   []string          `json:"recalled,omitempty"`       // of a read: the memories that a full-text search found
	Listed     []string          `json:"listed,omitempty"`         // of a read: the agent's memories in the list of all memories
	ListedPart bool              `json:"listed_in_part,omitempty"` // of a read: that list has more pages
	Sessions   map[string]uint64 `json:"sessions,omitempty"`       // :: write → number of its sessions
}

// eraseReceipt is a receipt. Complete and Sealed are in Unix ms of the log's time; 0
// means not complete or not sealed.
type eraseReceipt struct {
	Index    uint64 `json:"index"`
	Complete int64  `json:"complete,omitempty"`
	Sealed   int64  `json:"sealed,omitempty"`
}

func (w *erase) Run(ctx context.Context, p *workload.Process) {
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		switch draw := p.Rand.IntN(100); {
		case draw < 42:
			_, _ = w.read(ctx, p, key)
		case draw < 84:
			w.put(ctx, p, key, draw)
		case draw < 94:
			w.late(ctx, p, key)
		case draw < 95:
			_, _ = w.erase(ctx, p, key, eraseCall{Seal: time.Duration(100+p.Rand.IntN(400)) * time.Millisecond})
		default:
			_, _ = w.erase(ctx, p, key, eraseCall{})
		}
	}
}

// Final reads every agent.
func (w *erase) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		_, err := w.read(ctx, p, key)
		return err
	})
}

// put makes a write.
func (w *erase) put(ctx context.Context, p *workload.Process, key string, draw int) {
	in := eraseCall{Name: workload.WriteName(p, w.names.Add(1)), Journal: true, Memory: true, Sessions: 1}
	switch draw % 5 {
	case 0:
		in.Journal, in.Memory = false, p.Rand.IntN(2) == 0
	case 1:
		in.Memory = false
	case 2:
		in.Sessions = 0
	case 3:
		if p.Rand.IntN(4) == 0 {
			in.Sessions = manySessions
		}
	}
	_, _ = workload.Call(ctx, p, workload.CallPut, key, true, in, func(ctx context.Context) (eraseSeen, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: in.ops(key)})
		if err != nil {
			return eraseSeen{}, err
		}
		if in.Sessions > 0 { // late calls write to the first session; each has its own incarnation
			if first, ok := result.Results[len(result.Results)-int(in.Sessions)].(*agent.SessionResult); ok {
				w.made(key, eraseCall{Name: in.Name, Incarnation: first.Session.Incarnation, Since: result.Index})
			}
		}
		return eraseSeen{Index: result.Index, Time: result.Time}, nil
	})
}

// ops returns the ops of a write; the sessions are last.
func (c eraseCall) ops(key string) []agent.Op {
	var ops []agent.Op
	if c.Journal {
		ops = append(ops, &agent.AppendThread{Thread: key, Entries: []agent.Draft{{Payload: workload.MarkOf(c.Name)}}},
			&agent.PutCheckpoint{Key: key, State: workload.MarkOf(c.Name), Thread: &agent.Pointer{Thread: key, Rev: 1}})
	}
	if c.Memory {
		ops = append(ops, &agent.WriteMemory{Agent: key, ID: c.Name, Content: "what an agent remembers"})
	}
	for n := range c.Sessions {
		ops = append(ops, &agent.PutSession{Session: eraseSession(key, c.Name, n), Agent: key})
	}
	return ops
}

func eraseSession(key, name string, n uint64) string {
	return fmt.Sprint(key, sessionSep, name, sessionSep, n)
}

func (w *erase) made(key string, session eraseCall) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.sessions[key] = append(w.sessions[key], session)
}

// late writes to an earlier session at its first revision.
func (w *erase) late(ctx context.Context, p *workload.Process, key string) {
	w.mu.Lock()
	sessions := w.sessions[key]
	sessions = sessions[max(0, len(sessions)-lateMax):]
	w.mu.Unlock()
	if len(sessions) == 0 {
		return
	}
	in, first := sessions[p.Rand.IntN(len(sessions))], uint64(1)
	_, _ = workload.Call(ctx, p, callLate, key, true, in, func(ctx context.Context) (eraseSeen, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{
			&agent.PutSession{Session: eraseSession(key, in.Name, 0), Agent: key, IfIncarnation: in.Incarnation, IfRevision: &first},
		}})
		return eraseSeen{Index: result.Index, Time: result.Time}, err
	})
}

func (*erase) erase(ctx context.Context, p *workload.Process, key string, in eraseCall) (eraseSeen, error) {
	return workload.Call(ctx, p, callErase, key, true, in, func(ctx context.Context) (eraseSeen, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{&agent.EraseAgent{Agent: key, Seal: in.Seal}}})
		if err != nil {
			return eraseSeen{}, err
		}
		receipt, ok := result.Results[0].(*agent.Erasure)
		if !ok {
			return eraseSeen{}, agent.Errorf(agent.CodeInternal, "the result is a %T", result.Results[0])
		}
		return eraseSeen{Index: result.Index, Time: result.Time, Receipt: receiptOf(receipt)}, nil
	})
}

func receiptOf(e *agent.Erasure) *eraseReceipt {
	return &eraseReceipt{Index: e.Index, Complete: e.CompletedAt, Sealed: e.SealedUntil}
}

// readOfAllMemories is the index of the list of all memories among the reads of read.
const readOfAllMemories = 4

// read reads all parts of an agent at one index.
func (*erase) read(ctx context.Context, p *workload.Process, key string) (eraseSeen, error) {
	return workload.Call(ctx, p, workload.CallRead, key, false, eraseCall{}, func(ctx context.Context) (eraseSeen, error) {
		page := agent.Page{Limit: agent.ListLimitMax}
		index, all, err := workload.FindAll(ctx, p,
			&agent.GetCheckpoint{Key: key}, &agent.LoadEntries{Thread: key, Limit: agent.EntriesLimitMax}, &agent.GetErasure{Agent: key},
			&agent.ListMemories{Agent: key, Page: page}, &agent.ListMemories{Page: page}, &agent.ListSessions{Agent: key, Page: page},
			&agent.Recall{Agent: key, Mode: agent.ModeText, Query: "remembers", Limit: agent.RecallLimitMax})
		if err != nil {
			return eraseSeen{}, err
		}
		out := eraseSeen{Index: index, Sessions: map[string]uint64{}}
		for at, found := range all {
			if list, ok := found.(*agent.MemoryList); ok && at == readOfAllMemories {
				out.listed(key, list)
			} else {
				out.found(key, found)
			}
		}
		return out, nil
	})
}

// listed adds the agent's memories in the list of all memories.
func (s *eraseSeen) listed(key string, list *agent.MemoryList) {
	s.ListedPart = list.Next != ""
	for _, m := range list.Items {
		if m.Agent == key {
			s.Listed = append(s.Listed, m.ID)
		}
	}
}

// found adds the result of one read.
func (s *eraseSeen) found(key string, found agent.Found) {
	switch found := found.(type) {
	case *agent.Checkpoint:
		s.Checkpoint = workload.NameIn(found.State)
	case *agent.Erasure:
		s.Receipt = receiptOf(found)
	case *agent.Entries:
		for _, e := range found.Items {
			s.Thread = append(s.Thread, workload.NameIn(e.Payload))
		}
	case *agent.MemoryList:
		for _, m := range found.Items {
			s.Memories = append(s.Memories, m.ID)
		}
	case *agent.Recalled:
		for _, m := range found.Items {
			s.Recalled = append(s.Recalled, m.Memory.ID)
		}
	case *agent.SessionList:
		for i := range found.Items {
			name, _, _ := strings.Cut(strings.TrimPrefix(found.Items[i].ID, key+sessionSep), sessionSep)
			s.Sessions[name]++
		}
	}
}
