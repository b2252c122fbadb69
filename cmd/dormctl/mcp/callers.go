package mcp

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"github.com/modelcontextprotocol/go-sdk/auth"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/access"
	"dormouse/agent"
)

// Cluster is a connection to a cluster with the rights of one caller.
type Cluster interface {
	agent.Service
	io.Closer
	// WhoAmI returns the principal of the connection's token.
	WhoAmI(ctx context.Context) (access.Principal, error)
}

const (
	// callersMax is how many tokens have a connection of their own: the ones used last.
	callersMax = 256
	// callerChecked is how long a token is used before it is checked again. The nodes check it on
	// each call besides.
	callerChecked = time.Minute
)

// callers keeps a server for each token. It may be used concurrently.
type callers struct {
	run   background
	dial  func(token string) (Cluster, error)
	scope string
	begun func(*server) // called with each new server

	mu    sync.Mutex
	known *simplelru.LRU[[sha256.Size]byte, *caller] // guarded by mu
}

// caller is the server of one token.
type caller struct {
	server  *server
	cluster Cluster
	user    string
	checked time.Time // guarded by callers.mu
	sees    bool      // it had rights in the scope when it was checked; guarded by callers.mu
}

func newCallers(run background, scope string, dial func(token string) (Cluster, error)) *callers {
	known, err := simplelru.NewLRU(callersMax, func(_ [sha256.Size]byte, c *caller) { _ = c.cluster.Close() })
	if err != nil {
		panic(err) // only for a size below one
	}
	return &callers{run: run, dial: dial, scope: scope, known: known}
}

// close closes all connections.
func (c *callers) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.known.Purge()
}

// of returns the caller with a token, and whether it has any rights in the scope. The error wraps
// auth.ErrInvalidToken if the cluster does not know the token.
func (c *callers) of(ctx context.Context, token string) (one *caller, sees bool, err error) {
	hash := sha256.Sum256([]byte(token))
	c.mu.Lock()
	one, ok := c.known.Get(hash)
	fresh := ok && time.Since(one.checked) < callerChecked
	sees = fresh && one.sees
	c.mu.Unlock()
	if fresh {
		return one, sees, nil
	}
	var cluster Cluster
	if ok {
		cluster = one.cluster
	} else if cluster, err = c.dial(token); err != nil {
		return nil, false, invalid(fmt.Errorf("connect to the cluster: %w", err)) // a malformed token is not sent
	}
	who, err := cluster.WhoAmI(ctx)
	if err != nil {
		if !ok {
			_ = cluster.Close()
		}
		return nil, false, invalid(err)
	}
	sees = who.Sees(c.scope)
	c.mu.Lock()
	defer c.mu.Unlock()
	if now, there := c.known.Get(hash); there {
		if !ok { // another request was first
			_ = cluster.Close()
		}
		now.checked, now.sees = time.Now(), sees
		return now, sees, nil
	}
	one = &caller{newServer(c.run, store{asCaller{cluster}, c.scope}, rand.Text), cluster, who.Name, time.Now(), sees}
	c.begun(one.server)
	c.known.Add(hash, one)
	return one, sees, nil
}

// invalid makes an error that refuses the token one of auth.ErrInvalidToken.
func invalid(err error) error {
	if agent.CodeOf(err) == agent.CodeUnauthenticated {
		return errors.Join(auth.ErrInvalidToken, err)
	}
	return err
}

// verify implements auth.TokenVerifier.
func (c *callers) verify(ctx context.Context, token string, _ *http.Request) (*auth.TokenInfo, error) {
	one, sees, err := c.of(ctx, token)
	if err != nil {
		return nil, err
	}
	info := &auth.TokenInfo{UserID: one.user, Expiration: time.Now().Add(callerChecked), Extra: map[string]any{callerExtra: one}}
	if sees {
		info.Scopes = []string{c.scope}
	}
	return info, nil
}

// admit refuses callers without any rights in the scope. dormctl keeps the state of sessions with its own rights, so
// that such a caller could write to the scope.
func (c *callers) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info := auth.TokenInfoFromContext(r.Context()); info == nil || !slices.Contains(info.Scopes, c.scope) {
			http.Error(w, fmt.Sprintf("this token has no rights in scope %q: use a token that has", c.scope), http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// callerExtra is where a verified token holds its caller.
const callerExtra = "dormouse"

// callerKey is the key of the caller of a request, in the context of its call.
type callerKey struct{}

// withCaller is the middleware that adds the caller of a request to the context of its call.
func withCaller(next sdk.MethodHandler) sdk.MethodHandler {
	return func(ctx context.Context, method string, r sdk.Request) (sdk.Result, error) {
		if extra := r.GetExtra(); extra != nil && extra.TokenInfo != nil {
			if one, ok := extra.TokenInfo.Extra[callerExtra].(*caller); ok {
				ctx = context.WithValue(ctx, callerKey{}, one)
			}
		}
		return next(ctx, method, r)
	}
}

// asCaller makes each commit and read of a session with the token of the request that asks for it. The token that began the
// session may have been revoked since, may have other rights, or may have lost its connection to other callers. Watches have
// that token, because no request waits for them.
type asCaller struct{ agent.Service }

func (a asCaller) of(ctx context.Context) agent.Service {
	if one, ok := ctx.Value(callerKey{}).(*caller); ok {
		return one.cluster
	}
	return a.Service
}

// Commit implements agent.Service.
func (a asCaller) Commit(ctx context.Context, c agent.Commit) (agent.Result, error) {
	return a.of(ctx).Commit(ctx, c)
}

// Read implements agent.Service.
func (a asCaller) Read(ctx context.Context, r agent.Reads) (agent.Answers, error) {
	return a.of(ctx).Read(ctx, r)
}
