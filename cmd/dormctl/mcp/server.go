package mcp

import (
	"context"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/internal/version"
)

const instructions = `Dormouse keeps the state of AI agents in a replicated cluster.
Memories (memory_*) are what an agent is to remember, across conversations.
Threads (thread_*) are append-only journals: what happened, in order.
Sessions (session_*) are turns of work with an owner; reviews (review_*) are decisions that they wait for.`

// server is the MCP server for one caller, or for one session that was taken over.
type server struct {
	*sdk.Server
	run     background
	store   store
	watched *subscriptions
}

// background runs a function on a goroutine of its own, with a context that ends with the command.
type background func(do func(context.Context))

// backgroundOf returns the background whose functions end with ctx.
func backgroundOf(ctx context.Context) background {
	return func(do func(context.Context)) { go do(ctx) }
}

// newServer returns a server that acts on a scope. sessionID returns the
// id of each session that begins.
func newServer(run background, s store, sessionID func() string) *server {
	watched := &subscriptions{store: s, run: run, active: map[string]*subscription{}, sessions: map[string]bool{}}
	v := &server{run: run, store: s, watched: watched}
	v.Server = sdk.NewServer(&sdk.Implementation{Name: "dormouse", Title: "Dormouse", Version: version.String()}, &sdk.ServerOptions{
		Instructions:      instructions,
		CompletionHandler: s.complete,
		GetSessionID:      sessionID,
		SubscribeHandler: func(_ context.Context, r *sdk.SubscribeRequest) error {
			return watched.subscribe(v.Server, r.Session, r.Params.URI)
		},
		UnsubscribeHandler: func(_ context.Context, r *sdk.UnsubscribeRequest) error {
			watched.unsubscribe(r.Session.ID(), r.Params.URI)
			return nil
		},
	})
	v.AddReceivingMiddleware(withCaller)
	s.addMemoryTools(v.Server)
	s.addThreadTools(v.Server)
	s.addSessionTools(v.Server)
	s.addResources(v.Server)
	return v
}
