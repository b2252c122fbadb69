package rest_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"dormouse/agent"
	"dormouse/agent/memstore"
)

// fake is a simplified in-memory store: one writer, no expiry, no fences, no limits of scopes.
type fake struct {
	mu          sync.Mutex
	index       uint64
	scopes      map[string]*fakeScope
	answered    map[string]fakeAnswer // by scope and request client
	changed     chan struct{}         // closed and made again by each commit
	lastCommit  agent.Commit
	lastReads   agent.Reads
	commitFault error                                     // answers every commit
	readFault   error                                     // answers every read
	onCommit    func(ctx context.Context) error           // runs first
	onRead      func(ctx context.Context) error           // runs first
	onBackup    func(w io.Writer) error                   // writes the backup
	onChange    func(agent.Change, string) error          // handles the change
	onWatch     func(yield func(agent.Event, error) bool) // instead of the store's own events
	lastWatch   agent.Watch
}

type fakeAnswer struct {
	body   string
	result agent.Result
	err    error
}

type fakeScope struct {
	managers    map[string]agent.Manager
	created     int64
	policy      agent.Policy
	values      map[string]*agent.Value
	checkpoints map[string][]*agent.Checkpoint // oldest first
	threads     map[string]*fakeThread
	claims      map[string]agent.Claim
	sessions    map[string]*agent.Session
	reviews     map[string]*agent.Review
	memories    []agent.Memory // the last written last
	timers      memstore.TimerModel
}

type fakeThread struct {
	agent.Thread
	entries []agent.Entry // all of them, by seq
}

func newFake() *fake {
	f := &fake{changed: make(chan struct{})}
	f.empty()
	return f
}

// empty removes all data.
func (f *fake) empty() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.index, f.scopes, f.answered = 0, map[string]*fakeScope{}, map[string]fakeAnswer{}
}

const fakeEpoch = 1_700_000_000_000 // the log's time at index 0; each commit is a ms

func (f *fake) scope(name string) *fakeScope {
	s := f.scopes[name]
	if s == nil {
		s = &fakeScope{created: f.now(), values: map[string]*agent.Value{}, checkpoints: map[string][]*agent.Checkpoint{}, threads: map[string]*fakeThread{}, claims: map[string]agent.Claim{}, sessions: map[string]*agent.Session{}, reviews: map[string]*agent.Review{}, timers: memstore.TimerModel{}}
		f.scopes[name] = s
	}
	return s
}

func (f *fake) now() int64 { return fakeEpoch + int64(f.index) }

func (f *fake) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	if f.onCommit != nil {
		if err := f.onCommit(ctx); err != nil {
			return agent.Result{}, err
		}
	}
	if err := c.Validate(); err != nil {
		return agent.Result{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastCommit = c
	if f.commitFault != nil {
		return agent.Result{}, f.commitFault
	}
	key, body := c.Scope+"\x00"+c.Request.Client, fakeBody(c)
	if before, ok := f.answered[key]; ok && c.Request.Client != "" {
		if before.body != body {
			return agent.Result{}, agent.Errorf(agent.CodeIdempotencyMismatch, "another body")
		}
		return before.result, before.err
	}
	f.index++
	result := agent.Result{Index: f.index, Time: f.now()}
	var refusal error
	for i, op := range c.Ops {
		out, err := f.apply(c.Scope, op, uint64(i))
		if err != nil {
			err.Op, err.Final = i, true
			result, refusal = agent.Result{}, err
			break
		}
		result.Results = append(result.Results, out)
	}
	if c.Request.Client != "" {
		f.answered[key] = fakeAnswer{body, result, refusal}
	}
	close(f.changed)
	f.changed = make(chan struct{})
	return result, refusal
}

// fakeBody returns the parts of a commit that a retry must repeat.
func fakeBody(c agent.Commit) string {
	var b strings.Builder
	for _, op := range c.Ops {
		encoded, err := json.Marshal(op)
		fmt.Fprintf(&b, "%T %s %v\n", op, encoded, err)
	}
	return b.String()
}

func (f *fake) apply(scope string, op agent.Op, ordinal uint64) (agent.OpResult, *agent.Error) {
	s, incarnation := f.scope(scope), f.index<<16|ordinal
	if result, refusal, ok := s.timers.Apply(op, f.now(), func() uint64 { return incarnation }); ok {
		return result, refusal
	}
	switch o := op.(type) {
	case *agent.PutValue:
		v := agent.Value{Key: o.Key, Incarnation: incarnation, CreatedAt: f.now()}
		if old := s.values[o.Key]; old != nil {
			v = *old
		}
		if o.IfRevision != nil && *o.IfRevision != v.Revision {
			return nil, &agent.Error{Code: agent.CodeRevisionMismatch, Revision: v.Revision}
		}
		v.Revision, v.Bytes, v.ContentType, v.UpdatedAt = v.Revision+1, bytes.Clone(o.Bytes), o.ContentType, f.now()
		s.values[o.Key] = &v
		return &agent.ValueResult{Key: v.Key, Incarnation: v.Incarnation, Revision: v.Revision, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt}, nil
	case *agent.DeleteValue:
		_, existed := s.values[o.Key]
		delete(s.values, o.Key)
		return &agent.DeleteResult{Existed: existed}, nil
	case *agent.PutManager, *agent.DeleteManager:
		return f.changeManager(s, op, incarnation)
	case *agent.PutCheckpoint:
		return f.put(s, o, incarnation)
	case *agent.PatchCheckpoint:
		history := s.checkpoints[o.Key]
		if len(history) == 0 {
			return nil, agent.Errorf(agent.CodeNotFound, "no checkpoint")
		}
		now := history[len(history)-1]
		merged, err := agent.MergePatch(now.State, o.Patch)
		if err != nil {
			return nil, agent.Errorf(agent.CodeInternal, "%v", err)
		}
		return f.put(s, &agent.PutCheckpoint{Key: o.Key, State: merged, Metadata: now.Metadata, Version: now.Version, Thread: now.Thread, IfRevision: o.IfRevision}, incarnation)
	case *agent.PatchCron:
		now := agent.Checkpoint{State: agent.JSON("{}")}
		if history := s.checkpoints[o.Key]; len(history) > 0 {
			now = *history[len(history)-1]
		}
		state, changes, refusal := memstore.CronState(now.State, o)
		if refusal == nil {
			refusal = s.timers.Reschedule(o.Key, changes, nil, f.now(), func() uint64 { return incarnation })
		}
		if refusal != nil {
			return nil, refusal
		}
		return f.put(s, &agent.PutCheckpoint{Key: o.Key, State: state, Metadata: now.Metadata, Version: now.Version, Thread: now.Thread, IfRevision: o.IfRevision}, incarnation)
	case *agent.DeleteCheckpoint:
		_, existed := s.checkpoints[o.Key]
		delete(s.checkpoints, o.Key)
		return &agent.DeleteResult{Existed: existed}, nil
	case *agent.PutScope:
		s.policy = o.Policy
		return &agent.ScopeResult{Scope: agent.Scope{Name: scope, CreatedAt: s.created, Policy: s.policy}}, nil
	case *agent.DeleteScope:
		delete(f.scopes, scope)
		return &agent.DeleteResult{Existed: true}, nil
	case *agent.PutSession, *agent.ClaimSession, *agent.ResumeSession, *agent.RecoverSession, *agent.CheckpointSession, *agent.CommitSession,
		*agent.RenewSession, *agent.CancelSession, *agent.ForkSession, *agent.DeleteSession, *agent.DecideReview:
		return f.applySession(s, op, incarnation)
	case *agent.WriteMemory:
		return f.remember(s, o, incarnation)
	case *agent.DeleteMemory:
		return s.forget(o)
	default:
		return f.applyThread(s, op, incarnation)
	}
}

func (f *fake) put(s *fakeScope, o *agent.PutCheckpoint, incarnation uint64) (agent.OpResult, *agent.Error) {
	c := agent.Checkpoint{Key: o.Key, Incarnation: incarnation, CreatedAt: f.now()}
	if history := s.checkpoints[o.Key]; len(history) > 0 {
		c = *history[len(history)-1]
	}
	if o.IfRevision != nil && *o.IfRevision != c.Revision {
		return nil, &agent.Error{Code: agent.CodeRevisionMismatch, Revision: c.Revision}
	}
	c.Thread = nil
	if o.Thread != nil {
		t := s.threads[o.Thread.Thread]
		if t == nil || t.Rev < o.Thread.Rev {
			return nil, &agent.Error{Code: agent.CodeMissingThread, Thread: o.Thread.Thread}
		}
		c.Thread = &agent.Pointer{Thread: t.ID, Rev: o.Thread.Rev, Head: t.headAt(o.Thread.Rev), Incarnation: t.Incarnation}
	}
	c.Revision, c.State, c.Metadata, c.Lifecycle, c.UpdatedAt = c.Revision+1, o.State, o.Metadata, o.Lifecycle, f.now()
	c.Version = max(1, o.Version)
	s.checkpoints[o.Key] = append(s.checkpoints[o.Key], &c)
	return &agent.CheckpointResult{Key: c.Key, Incarnation: c.Incarnation, Revision: c.Revision, CreatedAt: c.CreatedAt, UpdatedAt: c.UpdatedAt, Thread: c.Thread}, nil
}

func (f *fake) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	if f.onRead != nil {
		if err := f.onRead(ctx); err != nil {
			return agent.Answers{}, err
		}
	}
	if err := r.Validate(); err != nil {
		return agent.Answers{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lastReads = r
	if f.readFault != nil {
		return agent.Answers{}, f.readFault
	}
	if err := ctx.Err(); err != nil {
		return agent.Answers{}, err
	}
	out := agent.Answers{Index: f.index, Node: "n1", AgeMS: 12}
	for _, each := range r.Reads {
		found, err := f.find(f.scope(r.Scope), each)
		if err != nil {
			out.Answers = append(out.Answers, agent.Answer{Err: err})
			continue
		}
		out.Answers = append(out.Answers, agent.Answer{Found: found})
	}
	return out, nil
}

func (f *fake) find(s *fakeScope, r agent.Read) (agent.Found, *agent.Error) {
	if found, refusal, ok := s.timers.Find(r); ok {
		return found, refusal
	}
	missing := agent.Errorf(agent.CodeNotFound, "there is nothing")
	switch q := r.(type) {
	case *agent.GetValue:
		if v := s.values[q.Key]; v != nil {
			return v, nil
		}
	case *agent.ListValues:
		out := &agent.ValueList{}
		keys, next := page(q.Page, slices.Sorted(maps.Keys(s.values)))
		for _, k := range keys {
			v := s.values[k]
			out.Items = append(out.Items, agent.ValueRow{Key: k, Revision: v.Revision, Size: uint64(len(v.Bytes)), ContentType: v.ContentType})
		}
		out.Next = next
		return out, nil
	case *agent.GetCheckpoint:
		for _, c := range slices.Backward(s.checkpoints[q.Key]) {
			if q.Revision == 0 || q.Revision == c.Revision {
				return c, nil
			}
		}
	case *agent.CheckpointHistory:
		out := &agent.CheckpointList{}
		for _, c := range slices.Backward(s.checkpoints[q.Key]) {
			out.Items = append(out.Items, agent.CheckpointRow{Key: c.Key, Revision: c.Revision, Bytes: uint64(len(c.State)), UpdatedAt: c.UpdatedAt})
		}
		return out, nil
	case *agent.ListCheckpoints:
		out := &agent.CheckpointList{}
		keys, next := page(q.Page, slices.Sorted(maps.Keys(s.checkpoints)))
		for _, k := range keys {
			out.Items = append(out.Items, agent.CheckpointRow{Key: k, Revision: uint64(len(s.checkpoints[k]))})
		}
		out.Next = next
		return out, nil
	case *agent.ListScopes:
		out := &agent.ScopeList{}
		for _, name := range slices.Sorted(maps.Keys(f.scopes)) {
			out.Items = append(out.Items, agent.Scope{Name: name, CreatedAt: f.scopes[name].created, Policy: f.scopes[name].policy})
		}
		return out, nil
	case *agent.GetScope:
		return &agent.Scope{Name: "it", CreatedAt: s.created, Policy: s.policy}, nil
	case *agent.Thaw:
		return f.thaw(s, q)
	case *agent.GetSession, *agent.ListSessions, *agent.GetReview, *agent.ListReviews:
		return f.findSession(s, r)
	case *agent.GetManager, *agent.ListManagers:
		return s.manager(r)
	case *agent.GetMemory, *agent.ListMemories, *agent.Recall:
		return s.memory(r)
	default:
		return f.findThread(s, r)
	}
	return nil, missing
}

func page(p agent.Page, keys []string) (items []string, next string) {
	if p.Limit == 0 {
		p.Limit = agent.ListLimitDefault
	}
	for _, k := range keys {
		if !strings.HasPrefix(k, p.Prefix) || p.After != "" && k <= p.After {
			continue
		}
		if uint64(len(items)) == p.Limit {
			return items, items[len(items)-1]
		}
		items = append(items, k)
	}
	return items, ""
}

func (f *fake) thaw(s *fakeScope, q *agent.Thaw) (agent.Found, *agent.Error) {
	found, err := f.find(s, &agent.GetCheckpoint{Key: q.Key, Revision: q.Revision})
	if err != nil {
		return nil, err
	}
	out := &agent.Thawed{Checkpoint: *found.(*agent.Checkpoint)}
	if p := out.Checkpoint.Thread; p != nil {
		t := s.threads[p.Thread]
		meta := t.Thread
		meta.Rev = p.Rev
		out.Thread, out.Entries, out.Ahead = &meta, t.entries[:p.Rev], t.Rev-p.Rev
		if q.Tail != nil {
			out.Entries = out.Entries[max(0, len(out.Entries)-int(*q.Tail)):]
		}
	}
	return out, nil
}

func (f *fake) Status(context.Context) (agent.ClusterStatus, error) {
	if f.readFault != nil {
		return agent.ClusterStatus{}, f.readFault
	}
	return agent.ClusterStatus{
		ClusterID: "c1", Node: "n1", Leader: "n1", Term: 3, CommitIndex: 8, AppliedIndex: 7, Chain: 0xbeef,
		Members: []agent.MemberStatus{{Member: agent.Member{ID: "n1", HTTPAddr: "127.0.0.1:7600"}, Voter: true, Leader: true, Status: "alive", AppliedIndex: 7}},
	}, nil
}

func (f *fake) Change(_ context.Context, change agent.Change, node string) (string, error) {
	if f.onChange != nil {
		if err := f.onChange(change, node); err != nil {
			return "", err
		}
	}
	return "n2", nil
}

func (f *fake) Backup(_ context.Context, w io.Writer) error {
	if f.onBackup != nil {
		return f.onBackup(w)
	}
	_, err := w.Write([]byte("a whole store"))
	return err
}

func (*fake) ExportScope(_ context.Context, scope string, write func(agent.ScopePart) error) error {
	if err := write(agent.ScopePart{Header: &agent.ScopeHeader{ClusterID: "c", Scope: agent.Scope{Name: scope}, Index: 7, Minted: 8}}); err != nil {
		return err
	}
	return write(agent.ScopePart{Rows: agent.AppendScopeRow(nil, agent.ScopeRow{Key: []byte("k"), Value: []byte("v")})})
}

func (f *fake) Placement(_ context.Context, q agent.PlacementQuery) (agent.Placement, error) {
	if err := q.Validate(); err != nil {
		return agent.Placement{}, err
	}
	if q.Manager == "" {
		return agent.Placement{
			Index: 7, Nodes: []agent.PlacedNode{{Node: "n1", Weight: 100, Leased: true, Owned: 4000, Draining: 1}}, Free: 96,
			Moving: []agent.Partition{{ID: 5, Owner: "n1", To: "n2", Why: "n2 joined"}},
		}, nil
	}
	return agent.Placement{Index: 7, Partition: &agent.Partition{ID: 42, Owner: "n1", Epoch: 9, State: agent.PartitionOwned, Why: q.Key}}, nil
}
