package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// ThreadStore stores threads. Load, Save, Append, Delete and List are those of Jido's
// older Thread.Store, in which nothing conflicts; AppendAt checks the rev.
type ThreadStore interface {
	// Load reads a thread and all of its entries, at one rev.
	Load(ctx context.Context, thread string) (agent.Thread, []agent.Entry, error)

	// Tail is Load with only the last entries, at least 1.
	Tail(ctx context.Context, thread string, last uint64) (agent.Thread, []agent.Entry, error)

	// Save replaces the thread by these entries: it is deleted and appended to in one
	// commit, so that no reader sees a partial thread. It begins a new incarnation; a
	// checkpoint that points to the previous one can no longer be thawed. There may be
	// at most agent.CommitEntriesMax entries; metadata is an object or nil.
	Save(ctx context.Context, thread string, entries []agent.Draft, metadata agent.JSON) (agent.Thread, error)

	// Append appends entries. It creates the thread if it does not exist.
	Append(ctx context.Context, thread string, entries ...agent.Draft) (agent.Thread, error)

	// AppendAt is Append if the thread is at that rev, where 0 means that it is
	// missing or empty; else it fails with conflict.
	AppendAt(ctx context.Context, thread string, rev uint64, entries ...agent.Draft) (agent.Thread, error)

	// Delete deletes the thread; deleting a missing one succeeds.
	Delete(ctx context.Context, thread string) error

	// List yields the threads whose ids have a prefix, in id order. An error is the
	// last element.
	List(ctx context.Context, prefix string) iter.Seq2[agent.Thread, error]
}

// Threads implements ThreadStore with a scope.
type Threads struct{ Scope client.Scope }

var _ ThreadStore = Threads{}

// Load implements ThreadStore.
func (s Threads) Load(ctx context.Context, thread string) (agent.Thread, []agent.Entry, error) {
	return s.load(ctx, agent.LoadEntries{Thread: thread})
}

// Tail implements ThreadStore.
func (s Threads) Tail(ctx context.Context, thread string, last uint64) (agent.Thread, []agent.Entry, error) {
	if last == 0 {
		return agent.Thread{}, nil, agent.Invalid("last", "last = 0 must be at least 1")
	}
	return s.load(ctx, agent.LoadEntries{Thread: thread, Tail: last})
}

// load reads all selected entries. It starts again if the thread was replaced or
// compacted meanwhile, so that the result is of one rev.
func (s Threads) load(ctx context.Context, ask agent.LoadEntries) (agent.Thread, []agent.Entry, error) {
	for {
		thread, entries, whole, err := s.loadOnce(ctx, ask)
		if whole || err != nil {
			return thread, entries, err
		}
	}
}

// loadOnce reads page by page. whole is false if the thread of the first page no
// longer exists.
func (s Threads) loadOnce(ctx context.Context, ask agent.LoadEntries) (thread agent.Thread, entries []agent.Entry, whole bool, err error) {
	page, err := s.Scope.Load(ctx, ask)
	if err != nil {
		return agent.Thread{}, nil, false, err
	}
	thread, entries = page.Thread, page.Items
	for page.Next != nil {
		page, err = s.Scope.Load(ctx, agent.LoadEntries{Thread: ask.Thread, From: *page.Next, AtRev: &thread.Rev})
		switch agent.CodeOf(err) {
		case "":
		case agent.CodeNotFound, agent.CodeConflict, agent.CodeCompacted:
			return agent.Thread{}, nil, false, nil
		default:
			return agent.Thread{}, nil, false, err
		}
		if page.Thread.Incarnation != thread.Incarnation {
			return agent.Thread{}, nil, false, nil
		}
		entries = append(entries, page.Items...)
	}
	return thread, entries, true, nil
}

// Save implements ThreadStore.
func (s Threads) Save(ctx context.Context, thread string, entries []agent.Draft, metadata agent.JSON) (agent.Thread, error) {
	r, err := s.Scope.Apply(ctx,
		&agent.DeleteThread{Thread: thread},
		&agent.AppendThread{Thread: thread, Entries: entries, Metadata: metadata},
	)
	if err != nil {
		return agent.Thread{}, err
	}
	saved, ok := r.Results[len(r.Results)-1].(*agent.ThreadResult)
	if !ok {
		return agent.Thread{}, agent.Errorf(agent.CodeInternal, "the result of an append is a %T", r.Results[len(r.Results)-1])
	}
	return saved.Thread, nil
}

// Append implements ThreadStore.
func (s Threads) Append(ctx context.Context, thread string, entries ...agent.Draft) (agent.Thread, error) {
	return s.grow(ctx, agent.AppendThread{Thread: thread, Entries: entries})
}

// AppendAt implements ThreadStore.
func (s Threads) AppendAt(ctx context.Context, thread string, rev uint64, entries ...agent.Draft) (agent.Thread, error) {
	return s.grow(ctx, agent.AppendThread{Thread: thread, Entries: entries, ExpectedRev: &rev})
}

func (s Threads) grow(ctx context.Context, add agent.AppendThread) (agent.Thread, error) {
	r, err := s.Scope.Append(ctx, add)
	if err != nil {
		return agent.Thread{}, err
	}
	return r.Thread, nil
}

// Delete implements ThreadStore.
func (s Threads) Delete(ctx context.Context, thread string) error {
	_, err := s.Scope.DeleteThread(ctx, agent.DeleteThread{Thread: thread})
	return err
}

// List implements ThreadStore.
func (s Threads) List(ctx context.Context, prefix string) iter.Seq2[agent.Thread, error] {
	return pages(prefix, func(page agent.Page) ([]agent.Thread, string, error) {
		list, err := s.Scope.ListThreads(ctx, page)
		if err != nil {
			return nil, "", err
		}
		return list.Items, list.Next, nil
	})
}
