package client

import (
	"context"
	"iter"

	"dormouse/agent"
)

// Append appends entries, creating the thread if there is none.
func (s Scope) Append(ctx context.Context, a agent.AppendThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s, &a)
}

// CompactThread forgets a thread's oldest entries; rev and head stay.
func (s Scope) CompactThread(ctx context.Context, c agent.CompactThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s, &c)
}

// ForkThread makes a new thread that shares another's entries.
func (s Scope) ForkThread(ctx context.Context, f agent.ForkThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s, &f)
}

// DeleteThread deletes a thread; a missing one is fine.
func (s Scope) DeleteThread(ctx context.Context, del agent.DeleteThread) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s, &del)
}

// GetThread reads a thread's meta; not_found if there is none.
func (s Scope) GetThread(ctx context.Context, thread string) (*agent.Thread, error) {
	return ask[*agent.Thread](ctx, s, &agent.GetThread{Thread: thread})
}

// Load reads one page of a thread's entries.
func (s Scope) Load(ctx context.Context, load agent.LoadEntries) (*agent.Entries, error) {
	return ask[*agent.Entries](ctx, s, &load)
}

// Entries reads all entries that load asks for, page by page, as the thread
// stood at the first page: what is appended meanwhile is left out. An error is
// the last element; it is deleted where the thread was made again in between.
func (s Scope) Entries(ctx context.Context, load agent.LoadEntries) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		var life uint64 // of the first page
		for {
			page, err := s.Load(ctx, load)
			if err == nil && life != 0 && page.Thread.Incarnation != life {
				err = remade(load.Thread, life)
			}
			if err != nil {
				yield(agent.Entry{}, err)
				return
			}
			life = page.Thread.Incarnation
			for _, e := range page.Items {
				if !yield(e, nil) {
					return
				}
			}
			if page.Next == nil {
				return
			}
			if load.AtRev == nil {
				rev := page.Thread.Rev
				load.AtRev = &rev
			}
			load.From, load.Tail = *page.Next, 0
		}
	}
}

// remade is the error of a read that began in one life of a thread and would
// go on in another.
func remade(thread string, life uint64) *agent.Error {
	e := agent.Errorf(agent.CodeDeleted, "thread %q was deleted, and made anew, while it was read: read it again", thread)
	e.Incarnation = life
	return e
}

// GetEntry reads one entry by its id.
func (s Scope) GetEntry(ctx context.Context, thread, entry string) (*agent.Entry, error) {
	return ask[*agent.Entry](ctx, s, &agent.GetEntry{Thread: thread, Entry: entry})
}

// VerifyThread recomputes a thread's head chain.
func (s Scope) VerifyThread(ctx context.Context, thread string) (*agent.Verified, error) {
	return ask[*agent.Verified](ctx, s, &agent.VerifyThread{Thread: thread})
}

// ListThreads lists threads in id order.
func (s Scope) ListThreads(ctx context.Context, page agent.Page) (*agent.ThreadList, error) {
	return ask[*agent.ThreadList](ctx, s, &agent.ListThreads{Page: page})
}
