package client

import (
	"context"
	"iter"
	"time"

	"dormouse/agent"
)

// Append appends entries to a thread, and creates the thread if it does not exist. The
// result has the thread after it, and the id, seq and time of each entry. If ExpectedRev
// or ExpectedHead does not hold, the error is conflict, with the stored rev and head.
func (s Threads) Append(ctx context.Context, a agent.AppendThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s.target, &a)
}

// CompactThread removes a thread's oldest entries; rev and head stay. It is a conflict if
// a checkpoint or a fork needs one of them.
func (s Threads) CompactThread(ctx context.Context, c agent.CompactThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s.target, &c)
}

// ForkThread creates a thread that shares another's entries; already_exists if the new
// thread exists.
func (s Threads) ForkThread(ctx context.Context, f agent.ForkThread) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s.target, &f)
}

// DeleteThread deletes a thread; deleting a missing one succeeds.
func (s Threads) DeleteThread(ctx context.Context, del agent.DeleteThread) (*agent.DeleteResult, error) {
	return do[*agent.DeleteResult](ctx, s.target, &del)
}

// GetThread reads a thread without its entries; not_found if it does not exist.
func (s Threads) GetThread(ctx context.Context, thread string) (*agent.Thread, error) {
	return ask[*agent.Thread](ctx, s.target, &agent.GetThread{Thread: thread})
}

// Load reads one page of a thread's entries; not_found if the thread does not exist.
// LoadEntries.Continue makes the read of the next page, and Entries reads all pages.
func (s Threads) Load(ctx context.Context, load agent.LoadEntries) (*agent.Entries, error) {
	return ask[*agent.Entries](ctx, s.target, &load)
}

// Entries yields all entries that load selects, page by page, at the thread's rev of
// the first page: later appends are left out. An error is the last element; it is
// deleted if the thread was deleted and created again meanwhile.
func (s Threads) Entries(ctx context.Context, load agent.LoadEntries) iter.Seq2[agent.Entry, error] {
	return func(yield func(agent.Entry, error) bool) {
		var life uint64 // incarnation in the first page
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
			if !load.Continue(page) {
				return
			}
		}
	}
}

// remade returns the error of a read whose thread was deleted and created again
// between pages.
func remade(thread string, life uint64) *agent.Error {
	e := agent.Errorf(agent.CodeDeleted, "thread %q was deleted and created again while it was read: read it again", thread)
	e.Incarnation = life
	return e
}

// GetEntry reads one entry by its id; not_found if the thread does not have it, or no
// longer.
func (s Threads) GetEntry(ctx context.Context, thread, entry string) (*agent.Entry, error) {
	return ask[*agent.Entry](ctx, s.target, &agent.GetEntry{Thread: thread, Entry: entry})
}

// VerifyThread recomputes a thread's hash chain, and compares it with the stored head. A
// difference is not an error: Verified.OK is then false.
func (s Threads) VerifyThread(ctx context.Context, thread string) (*agent.Verified, error) {
	return ask[*agent.Verified](ctx, s.target, &agent.VerifyThread{Thread: thread})
}

// ListThreads lists threads in id order.
func (s Threads) ListThreads(ctx context.Context, page agent.Page) (*agent.ThreadList, error) {
	return ask[*agent.ThreadList](ctx, s.target, &agent.ListThreads{Page: page})
}

// SetThreadTTL makes a thread expire after ttl from now, in log time; 0 means never. Only
// this call changes it: appends do not. not_found if the thread does not exist.
func (s Threads) SetThreadTTL(ctx context.Context, thread string, ttl time.Duration) (*agent.ThreadResult, error) {
	return do[*agent.ThreadResult](ctx, s.target, &agent.SetTTL{Thread: thread, TTL: ttl})
}
