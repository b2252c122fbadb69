package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// ThreadStore keeps journals. Load, Save, Append, Delete and List are those of
// the older Thread.Store (SEMANTICS §5), in which nothing ever conflicts;
// AppendAt is checked.
type ThreadStore interface {
	// Load reads a thread and all of its entries, as they stood at one moment.
	Load(ctx context.Context, thread string) (agent.Thread, []agent.Entry, error)

	// Tail is Load with only the last so many entries, at least 1.
	Tail(ctx context.Context, thread string, last uint64) (agent.Thread, []agent.Entry, error)

	// Save makes the thread consist of these entries, whatever was there: it is
	// deleted and appended to in one commit, so that nobody sees it half done. It
	// begins a new incarnation; a checkpoint that points to the one before no
	// longer thaws. Entries are agent.CommitEntriesMax at most, and metadata is
	// an object or nil.
	Save(ctx context.Context, thread string, entries []agent.Draft, metadata agent.JSON) (agent.Thread, error)

	// Append adds entries at the end, creating the thread if there is none.
	Append(ctx context.Context, thread string, entries ...agent.Draft) (agent.Thread, error)

	// AppendAt is Append where the thread is at that rev, 0 for one that does not
	// exist or is empty; else conflict.
	AppendAt(ctx context.Context, thread string, rev uint64, entries ...agent.Draft) (agent.Thread, error)

	// Delete deletes the thread; a missing one is fine.
	Delete(ctx context.Context, thread string) error

	// List yields those whose ids have a prefix, in id order, page by page. An
	// error is the last element.
	List(ctx context.Context, prefix string) iter.Seq2[agent.Thread, error]
}

// Threads is the ThreadStore of a scope.
type Threads struct{ Scope client.Scope }

var _ ThreadStore = Threads{}

// Load implements ThreadStore.
func (s Threads) Load(ctx context.Context, thread string) (agent.Thread, []agent.Entry, error) {
	return s.load(ctx, agent.LoadEntries{Thread: thread})
}

// Tail implements ThreadStore.
func (s Threads) Tail(ctx context.Context, thread string, last uint64) (agent.Thread, []agent.Entry, error) {
	if last == 0 {
		return agent.Thread{}, nil, agent.Invalid("last", "a tail of no entries: ask for 1 at least")
	}
	return s.load(ctx, agent.LoadEntries{Thread: thread, Tail: last})
}

// load reads all that was asked for, from the beginning again where the thread
// was replaced or cut meanwhile: it is of one moment, or not at all.
func (s Threads) load(ctx context.Context, ask agent.LoadEntries) (agent.Thread, []agent.Entry, error) {
	for {
		thread, entries, whole, err := s.loadOnce(ctx, ask)
		if whole || err != nil {
			return thread, entries, err
		}
	}
}

// loadOnce reads page after page. It is not whole where the thread that the
// first page was of is not there any more.
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
