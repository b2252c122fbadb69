package mcp

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
	"dormouse/api/document"
	"dormouse/internal/retry"
)

// The resources: threads and sessions by id, memories by agent and id. Ids are percent-encoded.
const (
	threadURI  = "dormouse://threads/"
	sessionURI = "dormouse://sessions/"
	memoryURI  = "dormouse://memories/"
	jsonType   = "application/json"
)

const (
	// subscriptionsMax bounds the resources that a server watches at once.
	subscriptionsMax = 256
	// rewatchFirst and rewatchMost are the first and the longest pause before a watch that ended begins again.
	rewatchFirst = 50 * time.Millisecond
	rewatchMost  = 30 * time.Second
	// completionsMax is how many ids a completion suggests at most.
	completionsMax = 100
	// tailOfResource is how many entries of a thread its resource has: the last ones.
	tailOfResource = 100
)

func (s store) addResources(server *sdk.Server) {
	for _, one := range []struct{ name, template, what string }{
		{"thread", threadURI + "{id}", fmt.Sprintf("A thread: its last %d entries", tailOfResource)},
		{"session", sessionURI + "{id}", "A session: its status, requests, lease and what it waits for"},
		{"memory", memoryURI + "{agent}/{id}", "One memory of an agent"},
	} {
		server.AddResourceTemplate(&sdk.ResourceTemplate{Name: one.name, URITemplate: one.template, Description: one.what, MIMEType: jsonType}, s.readResource)
	}
}

// readResource answers resources/read.
func (s store) readResource(ctx context.Context, r *sdk.ReadResourceRequest) (*sdk.ReadResourceResult, error) {
	uri := r.Params.URI
	found, err := s.resource(ctx, uri)
	if agent.CodeOf(err) == agent.CodeNotFound {
		return nil, sdk.ResourceNotFoundError(uri)
	}
	if err != nil {
		return nil, err
	}
	raw, err := json.Marshal(found)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", uri, err)
	}
	return &sdk.ReadResourceResult{Contents: []*sdk.ResourceContents{{URI: uri, MIMEType: jsonType, Text: string(raw)}}}, nil
}

// resource returns the document of a resource.
func (s store) resource(ctx context.Context, uri string) (any, error) {
	switch {
	case strings.HasPrefix(uri, threadURI):
		id, err := url.PathUnescape(uri[len(threadURI):])
		if err != nil {
			return nil, agent.Invalid("uri", "%s: %v", uri, err)
		}
		found, err := find[*agent.Entries](ctx, s, &agent.LoadEntries{Thread: id, Tail: tailOfResource})
		if err != nil {
			return nil, err
		}
		return document.EntryPageOf(found), nil
	case strings.HasPrefix(uri, sessionURI):
		id, err := url.PathUnescape(uri[len(sessionURI):])
		if err != nil {
			return nil, agent.Invalid("uri", "%s: %v", uri, err)
		}
		found, err := find[*agent.Session](ctx, s, &agent.GetSession{Session: id})
		if err != nil {
			return nil, err
		}
		return document.SessionOf(found), nil
	case strings.HasPrefix(uri, memoryURI):
		name, id, _ := strings.Cut(uri[len(memoryURI):], "/")
		name, err := url.PathUnescape(name)
		if err == nil {
			id, err = url.PathUnescape(id)
		}
		if err != nil {
			return nil, agent.Invalid("uri", "%s: %v", uri, err)
		}
		found, err := find[*agent.Memory](ctx, s, &agent.GetMemory{Agent: name, ID: id})
		if err != nil {
			return nil, err
		}
		return document.MemoryOf(*found), nil
	default:
		return nil, agent.Errorf(agent.CodeNotFound, "there is no resource %s", uri)
	}
}

// changedPath returns the path in the feed of changes of a resource that can be watched.
func changedPath(uri string) (string, error) {
	for prefix, kind := range map[string]string{threadURI: "threads/", sessionURI: "sessions/", memoryURI: "memory/"} {
		if id, ok := strings.CutPrefix(uri, prefix); ok {
			var parts []string
			for part := range strings.SplitSeq(id, "/") {
				plain, err := url.PathUnescape(part)
				if err != nil {
					return "", agent.Invalid("uri", "%s: %v", uri, err)
				}
				parts = append(parts, plain)
			}
			return kind + strings.Join(parts, "/"), nil
		}
	}
	return "", agent.Errorf(agent.CodeNotFound, "there is no resource %s to watch", uri)
}

// subscriptions tells clients of changed resources. It may be used concurrently.
type subscriptions struct {
	store store
	run   background

	mu       sync.Mutex
	active   map[string]*subscription // guarded by mu; by URI
	sessions map[string]bool          // guarded by mu; those that have subscribed, until they end
}

// subscription is one watched resource.
type subscription struct {
	sessions []string      // that asked for it
	end      chan struct{} // closed when no session asks for it any more
}

// subscribe watches a resource until the last session that asked for it unsubscribes or ends.
func (b *subscriptions) subscribe(server *sdk.Server, from *sdk.ServerSession, uri string) error {
	session := from.ID()
	path, err := changedPath(uri)
	if err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.sessions[session] {
		b.sessions[session] = true
		b.run(func(context.Context) {
			_ = from.Wait() // how it ended does not matter
			b.leave(session)
		})
	}
	if one := b.active[uri]; one != nil {
		if !slices.Contains(one.sessions, session) {
			one.sessions = append(one.sessions, session)
		}
		return nil
	}
	if len(b.active) >= subscriptionsMax {
		return agent.Errorf(agent.CodeOverloaded, "%d resources are watched, as many as may be: unsubscribe from one", subscriptionsMax)
	}
	one := &subscription{[]string{session}, make(chan struct{})}
	b.active[uri] = one
	b.run(func(ctx context.Context) { b.watch(ctx, one, server, uri, path) })
	return nil
}

// leave ends the subscriptions of a session that has ended.
func (b *subscriptions) leave(session string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.sessions, session)
	for uri := range b.active {
		b.drop(session, uri)
	}
}

func (b *subscriptions) unsubscribe(session, uri string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.drop(session, uri)
}

// drop ends one subscription. mu is held.
func (b *subscriptions) drop(session, uri string) {
	one := b.active[uri]
	if one == nil {
		return
	}
	if one.sessions = slices.DeleteFunc(one.sessions, func(s string) bool { return s == session }); len(one.sessions) == 0 {
		close(one.end)
		delete(b.active, uri)
	}
}

// watch sends a notification for each change of a resource, until one or ctx ends. A watch that ends for
// another reason, as when the scope is deleted, may have missed changes: watch then begins again, and sends a
// notification once the new one stands. It gives up if the caller may not watch any more.
func (b *subscriptions) watch(ctx context.Context, one *subscription, server *sdk.Server, uri, path string) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	b.run(func(context.Context) {
		select {
		case <-one.end:
			cancel()
		case <-ctx.Done():
		}
	})
	changed := func() {
		_ = server.ResourceUpdated(ctx, &sdk.ResourceUpdatedNotificationParams{URI: uri}) // a client that has gone needs no notification
	}
	pause := retry.New(rewatchFirst, rewatchMost)
	for again := false; ; again = true {
		began := time.Now()
		code := agent.CodeOf(b.follow(ctx, path, changed, again))
		if time.Since(began) > rewatchMost {
			pause.Reset()
		}
		if code == agent.CodeUnauthenticated || code == agent.CodeForbidden || !pause.Wait(ctx) {
			break
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.active[uri] == one { // a client may subscribe again
		delete(b.active, uri)
	}
}

// follow calls changed for each change of a path in the feed, until the feed ends, and if it is another attempt also once
// it will miss no change.
func (b *subscriptions) follow(ctx context.Context, path string, changed func(), again bool) error {
	for event, err := range b.store.service.Watch(ctx, agent.Watch{Scope: b.store.scope, Changes: true, Prefix: path}) {
		if err != nil {
			return err
		}
		if again {
			again = false
			changed()
		}
		for _, change := range event.Changes {
			if change.Path() == path {
				changed()
			}
		}
	}
	return nil
}

// complete suggests ids for the templates of the resources.
func (s store) complete(ctx context.Context, r *sdk.CompleteRequest) (*sdk.CompleteResult, error) {
	done := &sdk.CompleteResult{Completion: sdk.CompletionResultDetails{Values: []string{}}}
	if r.Params.Ref == nil || r.Params.Ref.Type != "ref/resource" || r.Params.Argument.Name != "id" {
		return done, nil
	}
	page := agent.Page{Prefix: r.Params.Argument.Value, Limit: completionsMax}
	switch {
	case strings.HasPrefix(r.Params.Ref.URI, threadURI):
		found, err := find[*agent.ThreadList](ctx, s, &agent.ListThreads{Page: page})
		if err != nil {
			return nil, err
		}
		for _, t := range found.Items {
			done.Completion.Values = append(done.Completion.Values, t.ID)
		}
		done.Completion.HasMore = found.Next != ""
	case strings.HasPrefix(r.Params.Ref.URI, sessionURI):
		found, err := find[*agent.SessionList](ctx, s, &agent.ListSessions{Page: page})
		if err != nil {
			return nil, err
		}
		for _, one := range found.Items {
			done.Completion.Values = append(done.Completion.Values, one.ID)
		}
		done.Completion.HasMore = found.Next != ""
	}
	return done, nil
}
