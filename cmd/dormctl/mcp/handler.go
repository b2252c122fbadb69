package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
	"golang.org/x/sync/singleflight"

	"dormouse/agent"
)

const (
	headerSession = "Mcp-Session-Id"
	// requestBytesMax bounds the body of a request.
	requestBytesMax = agent.CommitBytesMax + 1<<20
)

// handler serves MCP over streamable HTTP. A session that this process does not know, and another one
// began, is taken over.
type handler struct {
	inner    http.Handler
	state    store // where the sessions' state is kept, with the rights of this process
	serverOf func(*http.Request) *server
	taking   singleflight.Group // the sessions that are being taken over

	mu    sync.Mutex
	known map[string]bool // guarded by mu; the sessions of this process
}

// newHandler returns a handler. serverOf returns the server of a request's caller, or nil.
func newHandler(state store, serverOf func(*http.Request) *server) *handler {
	h := &handler{state: state, serverOf: serverOf, known: map[string]bool{}}
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
			EventStore: &events{state, h.forget}, SessionTimeout: sessionTTL, MaxRequestBodyBytes: requestBytesMax,
		})
	return h
}

// takenOver is the key of the server of a session that is taken over, in the context of requests.
type takenOver struct{}

func (h *handler) forget(session string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.known, session)
}

func (h *handler) knows(session string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.known[session]
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
		h.mu.Lock()
		defer h.mu.Unlock()
		h.known[session] = true
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
	h.inner.ServeHTTP(w, r)
}

// takeOver makes a session of another process one of this process. It does nothing if there is no
// such session, or if it is another user's: the inner handler then answers that it does not exist.
func (h *handler) takeOver(r *http.Request, session string) error {
	p, ok, err := loadParameters(r.Context(), h.state, session)
	if err != nil || !ok || p.User != userOf(r) {
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
