// Package tokens drives calls with tokens that are revoked while they are used. It checks that no
// call is served after the revocation was acknowledged, and none is refused before.
package tokens

import (
	"context"
	"io"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// tokens makes a token for each key. Its processes put and read values with clients of that token.
// After half of the calls on a key one of them revokes it, and the others go on for some calls. One
// token in three may only read, and one in three expires by itself.
type tokens struct {
	keys  *workload.Keys
	names atomic.Int64 // number of puts so far; numbers them

	mu  sync.Mutex
	all map[string]*token // :: key → its token; guarded by mu
}

// token is the state of a key's token, as its processes know it. tokens.mu guards it.
type token struct {
	id      string // "" before a creation was acknowledged
	secret  string
	calls   int
	revoked bool // acknowledged
}

const (
	keysAtOnce  = 3
	callsMax    = 240 // picks of a key
	revokeAfter = 60  // calls with a token until it is revoked
	afterwards  = 3   // calls of a process with a token that it knows to be revoked
	heldMax     = 4   // clients of a process
	calledLast  = 4   // tokens that Final calls with: each call may take refusedMax

	// refusedMax bounds a call with a token that is known to be revoked: a client may repeat it.
	refusedMax = time.Second
	ttlMin     = 2 * time.Second
	ttlMax     = 8 * time.Second
)

// New returns workload tokens.
func New() workload.Workload {
	return &tokens{keys: workload.NewSharedKeys("tk", keysAtOnce, callsMax), all: map[string]*token{}}
}

// Name is the workload's name.
const Name = "tokens"

func (*tokens) Name() string { return Name }

func (*tokens) About() string {
	return "calls with tokens that are revoked meanwhile, on any node: none is served after the acknowledgement or beyond its rights, and none is refused before"
}

// The calls besides put and get. A stray reads a scope that the token has no rights in.
const (
	callCreate = "create"
	callRevoke = "revoke"
	callStray  = "stray"
)

// created is the input of a creation: what the token may do.
type created struct {
	ReadOnly bool          `json:"read_only,omitempty"`
	TTL      time.Duration `json:"ttl,omitempty"`
}

// used is the input of a call with a token, and of its revocation.
type used struct {
	Token string `json:"token"`
	Name  string `json:"name,omitempty"` // of a put; unique
}

// seen is an answer.
type seen struct {
	Token   string   `json:"token,omitempty"` // of a creation
	Index   uint64   `json:"index,omitempty"`
	Time    int64    `json:"time,omitempty"`    // of a put: the log's time
	Expires int64    `json:"expires,omitempty"` // of a creation: when the token expires, in Unix ms of the log's time
	Names   []string `json:"names,omitempty"`   // of a read of all values
}

// kindOf returns what the token of a key may do.
func kindOf(p *workload.Process, key string) created {
	switch key[len(key)-1] % 3 {
	case 0:
		return created{ReadOnly: true}
	case 1:
		return created{TTL: ttlMin + time.Duration(p.Rand.Int64N(int64(ttlMax-ttlMin)))}
	default:
		return created{}
	}
}

func (w *tokens) Run(ctx context.Context, p *workload.Process) {
	h := &holder{process: p}
	defer h.close()
	for workload.Pace(ctx, p) {
		key := w.keys.Pick(p)
		t, known := w.of(key)
		switch {
		case !known:
			w.create(ctx, p, key)
		case !t.revoked && t.calls >= revokeAfter:
			_ = w.revoke(ctx, p, key, t)
		case t.revoked && h.late[key] >= afterwards:
			h.forget(key)
		default:
			if t.revoked {
				h.count(key)
			}
			w.use(ctx, p, h, key, t)
		}
	}
}

// of returns the token of a key; known is false before a creation was acknowledged.
func (w *tokens) of(key string) (t token, known bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	one := w.all[key]
	if one == nil {
		return token{}, false
	}
	one.calls++
	return *one, true
}

// create makes a token. Each creation is of another token, since one whose outcome is unknown may be
// applied after the revocation of a token that was made since. The first acknowledged one is used.
func (w *tokens) create(ctx context.Context, p *workload.Process, key string) {
	in, secret := kindOf(p, key), access.NewSecret()
	verbs := []agent.Verb{agent.VerbRead, agent.VerbWrite}
	if in.ReadOnly {
		verbs = verbs[:1]
	}
	op := &agent.PutToken{
		Hash: agent.HashToken(secret), Principal: p.Scope + "/" + workload.WriteName(p, w.names.Add(1)), TTL: in.TTL,
		Grants: []agent.Grant{{Scopes: []string{p.Scope}, Verbs: verbs}},
	}
	out, err := workload.Call(ctx, p, callCreate, key, true, in, func(ctx context.Context) (seen, error) {
		made, index, err := workload.CommitOne[*agent.TokenResult](ctx, p, op)
		if err != nil {
			return seen{}, err
		}
		return seen{Index: index, Token: made.Token.ID, Expires: made.Token.ExpiresAt}, nil
	})
	w.mu.Lock()
	defer w.mu.Unlock()
	if err == nil && w.all[key] == nil {
		w.all[key] = &token{id: out.Token, secret: secret}
	}
}

// revoke revokes a token with the process's own client, which may do everything.
func (w *tokens) revoke(ctx context.Context, p *workload.Process, key string, t token) error {
	_, err := workload.Call(ctx, p, callRevoke, key, true, used{Token: t.id}, func(ctx context.Context) (seen, error) {
		_, index, err := workload.CommitOne[*agent.DeleteResult](ctx, p, &agent.RevokeToken{ID: t.id})
		return seen{Index: index}, err
	})
	if err == nil {
		w.mu.Lock()
		w.all[key].revoked = true
		w.mu.Unlock()
	}
	return err
}

// use makes a call with a token.
func (w *tokens) use(ctx context.Context, p *workload.Process, h *holder, key string, t token) {
	q, err := h.with(key, t.secret)
	if err != nil {
		return // nothing was called
	}
	most := workload.CallMax
	if t.revoked {
		most = refusedMax
	}
	switch draw := p.Rand.IntN(10); {
	case draw == 0:
		_, _ = workload.CallFor(ctx, most, p, callStray, key, false, used{Token: t.id}, func(ctx context.Context) (seen, error) {
			return find(ctx, q, p.Scope+"-other", key)
		})
	case draw < 5:
		_, _ = workload.CallFor(ctx, most, p, workload.CallGet, key, false, used{Token: t.id}, func(ctx context.Context) (seen, error) {
			found, err := find(ctx, q, p.Scope, key)
			return seen{Index: found.Index}, err
		})
	default:
		in := used{Token: t.id, Name: workload.WriteName(p, w.names.Add(1))}
		_, _ = workload.CallFor(ctx, most, p, workload.CallPut, key, true, in, func(ctx context.Context) (seen, error) {
			result, err := q.Client.Commit(ctx, agent.Commit{Scope: p.Scope, Ops: []agent.Op{&agent.PutValue{Key: key + "/" + in.Name, Bytes: []byte(in.Name)}}})
			return seen{Index: result.Index, Time: result.Time}, err
		})
	}
}

// find reads the values of a key in a scope.
func find(ctx context.Context, p *workload.Process, scope, key string) (seen, error) {
	answers, err := p.Client.Read(ctx, agent.Reads{Scope: scope, Reads: []agent.Read{&agent.ListValues{Page: agent.Page{Prefix: key + "/", Limit: agent.ListLimitMax}}}})
	if err != nil {
		return seen{}, err
	}
	out := seen{Index: answers.Index}
	for _, answer := range answers.Answers {
		list, ok := answer.Found.(*agent.ValueList)
		switch {
		case answer.Err != nil:
			return seen{}, answer.Err
		case !ok || list.Next != "":
			return seen{}, agent.Errorf(agent.CodeInternal, "a list of one page was answered with a %T", answer.Found)
		}
		for _, row := range list.Items {
			out.Names = append(out.Names, row.Key[len(key)+1:])
		}
	}
	return out, nil
}

// Final revokes every token, calls once more with the newest ones, and reads what was put.
func (w *tokens) Final(ctx context.Context, p *workload.Process) error {
	h := &holder{process: p}
	defer h.close()
	all := w.keys.All()
	newest := all[max(0, len(all)-calledLast):]
	return workload.FinalReads(ctx, all, func(key string) error {
		if t, known := w.of(key); known {
			if err := w.revoke(ctx, p, key, t); err != nil {
				return err
			}
			if t.revoked = true; slices.Contains(newest, key) {
				w.use(ctx, p, h, key, t)
				h.forget(key)
			}
		}
		_, err := workload.Call(ctx, p, workload.CallRead, key, false, struct{}{}, func(ctx context.Context) (seen, error) {
			return find(ctx, p, p.Scope, key)
		})
		return err
	})
}

// holder has the clients of one process, each with the token of a key.
type holder struct {
	process *workload.Process
	clients map[string]*held
	order   []string       // keys of clients, oldest first
	late    map[string]int // :: key → calls after the revocation was known
}

type held struct {
	workload.Process
	close io.Closer
}

// with returns a process with a client of a key's token.
func (h *holder) with(key, secret string) (*workload.Process, error) {
	if one := h.clients[key]; one != nil {
		return &one.Process, nil
	}
	if h.process.Dial == nil {
		return nil, agent.Errorf(agent.CodeUnavailable, "this cluster has no tokens")
	}
	client, closer, err := h.process.Dial(secret)
	if err != nil {
		return nil, err
	}
	if h.clients == nil {
		h.clients = map[string]*held{}
	}
	one := &held{Process: *h.process, close: closer}
	one.Client = client
	h.clients[key] = one
	if h.order = append(h.order, key); len(h.order) > heldMax {
		h.forget(h.order[0])
	}
	return &one.Process, nil
}

// count counts a call with a token that is known to be revoked.
func (h *holder) count(key string) {
	if h.late == nil {
		h.late = map[string]int{}
	}
	h.late[key]++
}

// forget closes the client of a key.
func (h *holder) forget(key string) {
	one := h.clients[key]
	if one == nil {
		return
	}
	_ = one.close.Close() // no call is in progress
	delete(h.clients, key)
	h.order = slices.DeleteFunc(h.order, func(other string) bool { return other == key })
}

func (h *holder) close() {
	for len(h.order) > 0 {
		h.forget(h.order[0])
	}
}
