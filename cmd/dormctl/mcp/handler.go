package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"dormouse/agent"
)

const (
	headerSession = "Mcp-Session-Id"
	// requestBytesMax bounds the body of a request.
	requestBytesMax = agent.CommitBytesMax + 1<<20
	// sessionsMax is how many sessions a process keeps: the ones used last. It closes the others, whose clients
	// continue them with their next requests, as those of another process.
	sessionsMax = 1024
)

// handler serves MCP over streamable HTTP. A session that this process does not know, and another one
// began, is taken over.
type handler struct {
	inner    http.Handler
	state    store // where the sessions' state is kept, with the rights of this process
	serverOf func(*http.Request) *server
	taking   singleflight.Group // the sessions that are being taken over

	most    int // sessionsMax, or fewer in a test
	mu      sync.Mutex
	known   *simplelru.LRU[string, *member] // guarded by mu; the sessions of this process
	leaving map[string]chan struct{}        // guarded by mu; sessions that are being closed for room :: id → closed at the end
	ending  map[string]int                  // guarded by mu; requests under way that end a session
}

// member is a session of this process.
type member struct {
	io.Closer
	renewed time.Time // when its parameters were, guarded by handler.mu
}

// newHandler returns a handler. serverOf returns the server of a request's caller, or nil.
func newHandler(state store, serverOf func(*http.Request) *server) *handler {
	known, err := simplelru.NewLRU[string, *member](sessionsMax, nil)
	if err != nil {
		panic(err) // only for a size below one
	}
	h := &handler{state: state, serverOf: serverOf, most: sessionsMax, known: known, leaving: map[string]chan struct{}{}, ending: map[string]int{}}
	h.inner = sdk.NewStreamableHTTPHandler(
		func(r *http.Request) *sdk.Server {
			v, taken := r.Context().Value(takenOver{}).(*server)
			if !taken {
				v = serverOf(r)
			}
			if v == nil {
				return nil
			}
			return v.Server
		},
		&sdk.StreamableHTTPOptions{
			EventStore: newEvents(state, h.ended), SessionTimeout: sessionTTL, MaxRequestBodyBytes: requestBytesMax,
		})
	return h
}

// takenOver is the key of the server of a session that is taken over, in the context of requests.
type takenOver struct{}

// ended forgets a session that was closed. It reports whether its state is kept, as it is unless the client has ended
// the session: another process may continue one that this process has closed to make room, or that was not used here.
func (h *handler) ended(session string) (keeps bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, leaving := h.leaving[session]; leaving {
		return true
	}
	h.known.Remove(session)
	return h.ending[session] == 0
}

// use renews the parameters of a session of this process, if that is due.
func (h *handler) use(ctx context.Context, session string) {
	h.mu.Lock()
	one, ok := h.known.Get(session)
	due := ok && time.Since(one.renewed) >= renewEvery
	if due {
		one.renewed = time.Now()
	}
	h.mu.Unlock()
	if due && renewParameters(ctx, h.state, session) != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		one.renewed = time.Time{} // the next request tries again
	}
}

// end marks a request that ends a session, until done is called.
func (h *handler) end(session string) (done func()) {
	count := func(by int) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.ending[session] += by; h.ending[session] == 0 {
			delete(h.ending, session)
		}
	}
	count(1)
	return func() { count(-1) }
}

// knows reports whether a session is one of this process, which it is about to use.
func (h *handler) knows(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, ok := h.known.Get(session)
	return ok
}

// add adds a session of this process. If there are too many, it closes the one that was used least recently.
func (h *handler) add(session string, closes io.Closer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.known.Contains(session) && h.known.Len() == h.most {
		oldest, its, _ := h.known.RemoveOldest()
		left := make(chan struct{})
		h.leaving[oldest] = left
		go func() {
			_ = its.Close() // waits for its requests
			h.mu.Lock()
			defer h.mu.Unlock()
			delete(h.leaving, oldest)
			close(left)
		}()
	}
	h.known.Add(session, &member{closes, time.Now()})
}

// left waits until a session that is being closed is closed.
func (h *handler) left(ctx context.Context, session string) error {
	h.mu.Lock()
	left, leaving := h.leaving[session]
	h.mu.Unlock()
	if !leaving {
		return nil
	}
	select {
	case <-left:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// remember is the middleware that keeps the parameters of sessions that begin.
func (h *handler) remember(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		result, err := next(ctx, method, r)
		asked, ok := r.GetParams().(*sdk.InitializeParams)
		if err != nil || !ok {
			return result, err
		}
		session := r.GetSession().ID()
		p := parameters{Initialize: asked}
		if extra := r.GetExtra(); extra != nil && extra.TokenInfo != nil {
			p.User = extra.TokenInfo.UserID
		}
		if err := storeParameters(ctx, h.state, session, p); err != nil {
			return nil, err
		}
		if one, ok := r.GetSession().(io.Closer); ok {
			h.add(session, one)
		}
		return result, nil
	}
}

// ServeHTTP implements http.Handler.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	session := r.Header.Get(headerSession)
	if session != "" && !h.knows(session) {
		_, err, _ := h.taking.Do(session+"\x00"+userOf(r), func() (any, error) { return nil, h.takeOver(r, session) })
		if err != nil {
			http.Error(w, "this session cannot be continued now: "+err.Error(), http.StatusServiceUnavailable)
			return
		}
	}
	if session != "" {
		h.use(r.Context(), session)
	}
	if r.Method == http.MethodDelete {
		defer h.end(session)()
	}
	h.inner.ServeHTTP(w, r)
}

// takeOver makes a session of another process one of this process. It does nothing if there is no
// such session, or if it is another user's: the inner handler then answers that it does not exist.
func (h *handler) takeOver(r *http.Request, session string) error {
	p, ok, err := loadParameters(r.Context(), h.state, session)
	if err != nil || !ok || p.User != userOf(r) {
		return err
	}
	if err := h.left(r.Context(), session); err != nil {
		return err
	}
	v := h.serverOf(r)
	if v == nil || h.knows(session) {
		return nil
	}
	v = newServer(v.run, v.store, func() string { return session })
	v.AddReceivingMiddleware(h.remember)
	r = r.WithContext(context.WithValue(r.Context(), takenOver{}, v))
	for _, message := range []struct {
		method string
		params any
		id     string
	}{{"initialize", p.Initialize, "taken-over"}, {"notifications/initialized", struct{}{}, ""}} {
		if err := h.replay(r, session, message.method, message.params, message.id); err != nil {
			return err
		}
	}
	return nil
}

// userOf returns the user of a request; "" if callers are not asked for tokens.
func userOf(r *http.Request) string {
	if info := auth.TokenInfoFromContext(r.Context()); info != nil {
		return info.UserID
	}
	return ""
}

// replay sends a message of the client again, to this process.
func (h *handler) replay(r *http.Request, session, method string, params any, id string) error {
	message := map[string]any{"jsonrpc": "2.0", "method": method, "params": params}
	if id != "" {
		message["id"] = id
	}
	body, err := json.Marshal(message)
	if err != nil {
		return err
	}
	again, err := http.NewRequestWithContext(r.Context(), http.MethodPost, r.URL.String(), bytes.NewReader(body))
	if err != nil {
		return err
	}
	again.Host = r.Host
	again.Header.Set("Content-Type", jsonType)
	again.Header.Set("Accept", jsonType+", text/event-stream")
	if id == "" {
		again.Header.Set(headerSession, session)
	}
	answer := &discarded{header: http.Header{}, status: http.StatusOK}
	h.inner.ServeHTTP(answer, again)
	if answer.status >= http.StatusBadRequest {
		return agent.Errorf(agent.CodeUnavailable, "%s was answered with status %d", method, answer.status)
	}
	return nil
}

// discarded is an answer without a reader.
type discarded struct {
	header http.Header
	status int
}

func (d *discarded) Header() http.Header         { return d.header }
func (d *discarded) Write(p []byte) (int, error) { return len(p), nil }
func (d *discarded) WriteHeader(status int)      { d.status = status }
func (d *discarded) Flush()                      {}
