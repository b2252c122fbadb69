package fsm_test

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"dormouse/agent"
	"dormouse/storage"
)

// Standing is the state of a thing, as far as its changes tell.
type Standing struct {
	revision uint64
	status   string
}

// picture returns the state of all things in the model, by path.
func (m *model) picture() map[string]Standing {
	all := map[string]Standing{}
	for key, v := range m.values {
		all["values/"+key] = Standing{revision: v.Revision}
	}
	for key := range m.checkpoints {
		all["checkpoints/"+key] = Standing{revision: m.current(key).Revision}
	}
	for id, t := range m.threads {
		all["threads/"+id] = Standing{revision: t.Rev}
	}
	for both, v := range m.memories {
		all["memory/"+both] = Standing{revision: v.Revision}
	}
	for name, v := range m.managers {
		all["managers/"+name] = Standing{revision: v.Revision}
	}
	for name, c := range m.claims {
		all["claims/"+name] = Standing{revision: c.epoch}
	}
	for id, s := range m.sessions.Sessions {
		all["sessions/"+id] = Standing{revision: s.Revision, status: string(s.Status)}
	}
	for id, r := range m.sessions.Reviews {
		all["reviews/"+id] = Standing{status: string(r.Status)}
	}
	return all
}

// follower knows only what a scope's feed told it.
type follower struct {
	picture    map[string]Standing
	next, skip uint64
	answered   map[uint64]bool // :: seq of a request → its commit was among the earlier ones
}

// follow reads new changes in pages of limit, and returns them.
func (f *follower) follow(t *rapid.T, r *subject, limit int) []agent.Changed {
	t.Helper()
	var all []agent.Changed
	for f.next <= r.index {
		page := r.page(agent.DefaultScope, f.next, f.skip, "", limit)
		if f.next < page.Floor || f.next <= page.Gone {
			t.Fatalf("at %d the feed has ended: %+v", f.next, page)
		}
		for _, c := range page.Changes {
			if n := len(all); n > 0 && (c.Index < all[n-1].Index || c.Index == all[n-1].Index && c.Ordinal != all[n-1].Ordinal+1) {
				t.Fatalf("%+v comes after %+v", c, all[n-1])
			}
			all = append(all, c)
			if f.picture[c.Path()] = (Standing{c.Revision, c.Status}); c.Deleted {
				delete(f.picture, c.Path())
			}
		}
		f.next, f.skip = page.Next, page.Skip
	}
	return all
}

// results returns the paths and revisions in the answers of an entry's commits that it applied:
// those of ops that change one thing.
func (f *follower) results(commits []agent.Commit, decided []agent.Decided) (said []string) {
	for i, d := range decided {
		seq := commits[i].Request.Seq
		repeated := f.answered[seq]
		f.answered[seq] = seq != 0
		if d.Err != nil || repeated {
			continue
		}
		for _, result := range d.Result.Results {
			switch got := result.(type) {
			case *agent.ValueResult:
				if !got.Skipped {
					said = append(said, fmt.Sprint("values/", got.Key, " ", got.Revision))
				}
			case *agent.CheckpointResult:
				if !got.Skipped {
					said = append(said, fmt.Sprint("checkpoints/", got.Key, " ", got.Revision))
				}
			case *agent.MemoryResult:
				said = append(said, fmt.Sprint("memory/", got.Agent, "/", got.ID, " ", got.Revision))
			case *agent.ThreadResult:
				said = append(said, fmt.Sprint("threads/", got.Thread.ID, " ", got.Thread.Rev))
			}
		}
	}
	return said
}

// sameFeed compares an entry's changes with the results of its commits, and the sum of all changes
// with the model.
func sameFeed(t *rapid.T, r *subject, f *follower, m *model, changes []agent.Changed, results []string) {
	t.Helper()
	var said []string
	for _, c := range changes {
		switch c.Kind {
		case agent.ChangedValue, agent.ChangedCheckpoint, agent.ChangedMemory, agent.ChangedThread:
			if !c.Deleted {
				said = append(said, fmt.Sprint(c.Path(), " ", c.Revision))
			}
		default:
		}
	}
	if diff := cmp.Diff(results, said); diff != "" {
		t.Fatalf("(-results +feed):\n%s", diff)
	}
	want := m.picture()
	for path := range f.picture { // reviews are deleted with their session
		if _, there := want[path]; !there && len(path) > 8 && path[:8] == "reviews/" {
			delete(f.picture, path)
		}
	}
	told := maps.Clone(f.picture)
	maps.DeleteFunc(told, func(path string, _ Standing) bool {
		_, there := want[path]
		return !there && (beingDeleted(r, path) || sweepIsBehind(r))
	})
	if diff := cmp.Diff(want, told, cmp.AllowUnexported(Standing{})); diff != "" {
		t.Fatalf("(-model +what the feed told):\n%s", diff)
	}
}

// beingDeleted reports whether a deletion by prefix that is under way covers a path: the feed tells of
// each key when its rows are removed.
func beingDeleted(r *subject, path string) bool {
	for _, d := range read[*agent.DeletionList](r, &agent.ListDeletions{Page: agent.Page{Limit: agent.ListLimitMax}}).Items {
		if !d.Complete() && strings.HasPrefix(path, string(d.Kind)+"/"+d.Prefix) {
			return true
		}
	}
	return false
}

// sweepIsBehind reports whether something is due that the last entry did not sweep, since a step of a
// deletion takes the sweep of a whole entry: the feed tells later of what has expired.
func sweepIsBehind(r *subject) bool {
	_, wall := r.machine.Due()
	return wall != 0 && wall <= r.wall
}

// A reader that follows the feed from the beginning knows the state of all things after each entry;
// and each write is reported once, in order.
func TestTheFeedTellsAllThatTheModelDoes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		r, m := newSubject(t), newModel()
		defer r.close()
		r.record()
		g, f := &generator{model: m}, &follower{picture: map[string]Standing{}, answered: map[uint64]bool{}, next: r.index + 1}
		limit := rapid.IntRange(1, 5).Draw(rt, "limit")
		for range rapid.IntRange(1, 25).Draw(rt, "entries") {
			commits := g.entry(rt, r)
			decided := r.batch(commits...)
			for i, d := range decided {
				judge(rt, m, commits[i], d)
			}
			sameFeed(rt, r, f, m, f.follow(rt, r, limit), f.results(commits, decided))
		}
		again := openPeer(t, storage.MemFS())
		defer again.close(t)
		again.apply(t, r.log...)
		if again.hash(t) != r.hash() {
			rt.Fatal("two machines that were fed the same log differ")
		}
	})
}
