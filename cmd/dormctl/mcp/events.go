package mcp

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"dormouse/agent"
)

const (
	// eventsPrefix begins the ids of the threads of streams: the prefix, the session, a slash and the
	// stream.
	eventsPrefix = "mcp/events/"
	// eventKind is the kind of the entries of these threads.
	eventKind = "mcp_event"
	// listenStream is the name of the stream that a client listens on with GET. It lasts as long as its session.
	listenStream = ""
	// sessionTTL is how long the state of a session is kept after its last event, and its parameters after its last
	// request.
	sessionTTL = 24 * time.Hour
	// lostStreamsMax is for how many streams a process knows that events have no entry. Beyond it, it forgets any.
	lostStreamsMax = 4096
)

// events keeps what was sent on each stream of a session in a thread, so that a client can resume
// the stream through any process. It implements sdk.EventStore.
type events struct {
	store store
	ended func(session string) (keeps bool) // called when a session was closed here; reports whether its state is kept

	mu   sync.Mutex
	lost map[string]int // guarded by mu :: thread of a stream → how many of its newest events have no entry
}

var _ sdk.EventStore = (*events)(nil)

// newEvents returns the events of sessions whose state is kept in a store.
func newEvents(s store, ended func(session string) (keeps bool)) *events {
	return &events{store: s, ended: ended, lost: map[string]int{}}
}

func streamThread(session, stream string) string { return eventsPrefix + session + "/" + stream }

// Open implements sdk.EventStore.
func (e *events) Open(ctx context.Context, session, stream string) error {
	thread := streamThread(session, stream)
	_, err := commit[*agent.ThreadResult](ctx, e.store, &agent.AppendThread{Thread: thread}, &agent.SetTTL{Thread: thread, TTL: sessionTTL})
	if err != nil {
		return fmt.Errorf("keep the events of a stream: %w", err)
	}
	return nil
}

// Append implements sdk.EventStore. The index of an event is the seq of its entry.
//
// The SDK sends an event also if Append fails, and counts it. The next events then follow empty entries, one for each
// that was not kept: otherwise all later indexes would be too high, and a client that resumes would miss events. If the
// outcome of an append is unknown, the client may get an event twice instead.
func (e *events) Append(ctx context.Context, session, stream string, data []byte) error {
	thread := streamThread(session, stream)
	missing := e.noteLost(thread, 1) - 1 // this one counts until it is kept
	for missing > 0 {
		some := min(missing, agent.CommitEntriesMax)
		if err := e.append(ctx, thread, make([][]byte, some)); err != nil {
			return err
		}
		missing -= some
	}
	return e.append(ctx, thread, [][]byte{data})
}

// append appends events to the thread of a stream. They are no longer lost.
func (e *events) append(ctx context.Context, thread string, data [][]byte) error {
	entries := make([]agent.Draft, len(data))
	for i := range data {
		entries[i] = agent.Draft{Kind: eventKind, ContentType: jsonType, Bytes: data[i]}
	}
	_, err := commit[*agent.ThreadResult](ctx, e.store, &agent.AppendThread{Thread: thread, Entries: entries}, &agent.SetTTL{Thread: thread, TTL: sessionTTL})
	if err != nil {
		return fmt.Errorf("keep an event: %w", err)
	}
	e.noteLost(thread, -len(data))
	return nil
}

// noteLost adds to the number of a stream's newest events that have no entry, and returns it.
func (e *events) noteLost(thread string, by int) int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := e.lost[thread] + by
	if n <= 0 {
		delete(e.lost, thread)
		return 0
	}
	if _, known := e.lost[thread]; !known && len(e.lost) == lostStreamsMax {
		for other := range e.lost {
			delete(e.lost, other)
			break
		}
	}
	e.lost[thread] = n
	return n
}

// After implements sdk.EventStore.
func (e *events) After(ctx context.Context, session, stream string, index int) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		read := &agent.LoadEntries{Thread: streamThread(session, stream), From: uint64(max(index+1, 0))}
		for {
			page, err := find[*agent.Entries](ctx, e.store, read)
			if err == nil && page.Thread.Floor > read.From {
				err = sdk.ErrEventsPurged
			}
			if agent.CodeOf(err) == agent.CodeCompacted {
				err = sdk.ErrEventsPurged
			}
			if err != nil {
				yield(nil, fmt.Errorf("read the events of a stream: %w", err))
				return
			}
			for _, entry := range page.Items {
				if !yield(entry.Bytes, nil) {
					return
				}
			}
			if page.Next == nil {
				return
			}
			read.From = *page.Next
		}
	}
}

// SessionClosed implements sdk.EventStore. What it keeps or cannot delete expires.
func (e *events) SessionClosed(ctx context.Context, session string) error {
	if e.ended(session) {
		return nil
	}
	err := deleteParameters(ctx, e.store, session)
	for page := (agent.Page{Prefix: eventsPrefix + session + "/"}); ; {
		found, listing := find[*agent.ThreadList](ctx, e.store, &agent.ListThreads{Page: page})
		if listing != nil {
			return errors.Join(err, listing)
		}
		var ops []agent.Op
		for _, t := range found.Items {
			ops = append(ops, &agent.DeleteThread{Thread: t.ID})
		}
		if len(ops) > 0 { // a page may be empty although it has a next
			if _, deleting := commit[*agent.DeleteResult](ctx, e.store, ops...); deleting != nil {
				return errors.Join(err, deleting)
			}
		}
		if page.After = found.Next; page.After == "" {
			return err
		}
	}
}
