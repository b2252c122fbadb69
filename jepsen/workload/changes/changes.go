// Package changes drives the feeds of changes of many scopes, and lists by metadata. It checks that a
// feed tells of each commit once, in order, and of no refused one, and that a list is the state at its
// index.
package changes

import (
	"context"
	"fmt"
	"sync"
	"time"

	"dormouse/agent"
	"dormouse/jepsen/workload"
)

// changes writes and deletes values, each under a key of its own, in scopes that are one key of the
// workload each. A third of the commits end with an op that is refused. Followers read the scope's
// feed, some of them slowly. Each value has a group in its metadata, by which it is listed.
type changes struct {
	keys *workload.Keys

	mu    sync.Mutex
	began int // processes so far; one in three follows; guarded by mu
}

const (
	width    = 2   // scopes of a group of processes at the same time
	callsMax = 400 // picks of a scope
	putsMax  = 3   // values of a commit
	groups   = 3   // of values, by metadata
	group    = "group"
	prefix   = string(agent.ChangedValue) + "/"

	pollMax   = 500 * time.Millisecond
	pollTakes = 64                     // changes of a poll
	slowFor   = 400 * time.Millisecond // between two polls of a slow follower
	pollsMax  = 20                     // of a watch
)

// neverRevision is a revision that no value has.
const neverRevision = 1 << 40

// New returns workload changes.
func New() workload.Workload {
	return &changes{keys: workload.NewSharedKeys("c", width, callsMax)}
}

func (*changes) Name() string { return "changes" }

func (*changes) About() string {
	return "values written and deleted beside followers of the feed, fast and slow, and lists by metadata: each change once and in order, none of a refused commit, each list the state at its index"
}

// The calls. Each process declares the index of metadata before its other calls on a scope.
const (
	callDeclare = "declare"
	callPoll    = "poll"
	callList    = "list"
)

// commit is the input of a commit.
type commit struct {
	Puts    []string `json:"puts,omitempty"`
	Deletes []string `json:"deletes,omitempty"`
	Doomed  bool     `json:"doomed,omitempty"` // its last op is refused
}

// committed is the answer of a commit.
type committed struct {
	Index uint64 `json:"index"`
}

// poll is the input of a poll of a feed, from a position on.
type poll struct {
	From  uint64 `json:"from"`
	Skip  uint64 `json:"skip,omitempty"`
	Until uint64 `json:"until,omitempty"` // of the final reads: the index of a read that was made before
}

// polled is the answer of a poll: all changes from its position on through an index, or up to its last
// change.
type polled struct {
	Changes []told `json:"changes,omitempty"`
	Through uint64 `json:"through,omitempty"`
	End     string `json:"end,omitempty"`   // code of an error, or what ended the watch
	Floor   uint64 `json:"floor,omitempty"` // of compacted: the feed begins there
}

// told is one change of a feed.
type told struct {
	Index   uint64 `json:"i"`
	Ordinal uint64 `json:"o"`
	Key     string `json:"k"`
	Deleted bool   `json:"d,omitempty"`
}

// listed is the answer of a list.
type listed struct {
	Index uint64   `json:"index"`
	Keys  []string `json:"keys,omitempty"`
}

func (w *changes) Run(ctx context.Context, p *workload.Process) {
	w.mu.Lock()
	follows := w.began%3 == 2 || p.Via.Follows()
	w.began++
	w.mu.Unlock()
	declared := map[string]bool{}
	mine := map[string][]string{} // :: scope → values that the process has put and not deleted
	for n := 0; workload.Pace(ctx, p); n++ {
		key := w.keys.Pick(p)
		switch {
		case !declared[key]:
			declared[key] = declare(ctx, p, key) == nil
		case follows:
			follow(ctx, p, key)
		case p.Rand.IntN(8) == 0:
			_, _ = list(ctx, p, key, p.Rand.IntN(groups))
		default:
			mine[key] = write(ctx, p, key, n, mine[key])
		}
	}
}

// write makes one commit. It returns the values that the process may delete afterwards: each is
// deleted at most once.
func write(ctx context.Context, p *workload.Process, key string, n int, mine []string) []string {
	var in commit
	if len(mine) > 0 && p.Rand.IntN(2) == 0 {
		in.Deletes, mine = mine[:1:1], mine[1:]
	}
	if in.Deletes == nil || p.Rand.IntN(2) == 0 {
		for i := range 1 + p.Rand.IntN(putsMax) {
			in.Puts = append(in.Puts, fmt.Sprintf("g%d-%d-%d-%d", p.Rand.IntN(groups), p.ID, n, i))
		}
	}
	in.Doomed = p.Rand.IntN(3) == 0
	_, err := workload.Call(ctx, p, workload.CallCommit, key, true, in, func(ctx context.Context) (committed, error) {
		result, err := p.Client.Commit(ctx, agent.Commit{Scope: scopeOf(p, key), Ops: opsOf(in)})
		return committed{result.Index}, err
	})
	if err == nil {
		mine = append(mine, in.Puts...)
	}
	return mine
}

func opsOf(in commit) (ops []agent.Op) {
	for _, key := range in.Puts {
		ops = append(ops, &agent.PutValue{Key: key, Bytes: []byte(key), Metadata: agent.JSON(fmt.Sprintf(`{%q:%q}`, group, groupOf(key)))})
	}
	for _, key := range in.Deletes {
		ops = append(ops, &agent.DeleteValue{Key: key})
	}
	if in.Doomed {
		never := uint64(neverRevision)
		ops = append(ops, &agent.PutValue{Key: "doomed", Bytes: []byte("never"), IfRevision: &never})
	}
	return ops
}

// groupOf returns the group of a value, with which its key begins.
func groupOf(key string) string { return key[:min(2, len(key))] }

// scopeOf returns the scope of a key.
func scopeOf(p *workload.Process, key string) string { return p.Scope + "-" + key }

func declare(ctx context.Context, p *workload.Process, key string) error {
	_, err := workload.Call(ctx, p, callDeclare, key, true, struct{}{}, func(ctx context.Context) (struct{}, error) {
		_, err := p.Client.In(scopeOf(p, key)).IndexMetadata(ctx, group)
		return struct{}{}, err
	})
	return err
}

func list(ctx context.Context, p *workload.Process, key string, of int) (listed, error) {
	name := fmt.Sprintf("g%d", of)
	return workload.Call(ctx, p, callList, key, false, name, func(ctx context.Context) (listed, error) {
		answers, err := p.Client.Read(ctx, agent.Reads{Scope: scopeOf(p, key), Reads: []agent.Read{
			&agent.ListValues{Page: agent.Page{Limit: agent.ListLimitMax}, Where: agent.Where{{Key: group, Value: name}}},
		}})
		if err != nil {
			return listed{}, err
		}
		if e := answers.Answers[0].Err; e != nil {
			return listed{}, e
		}
		found, ok := answers.Answers[0].Found.(*agent.ValueList)
		if !ok || found.Next != "" {
			return listed{}, agent.Errorf(agent.CodeInternal, "a list of one page was answered with %T", answers.Answers[0].Found)
		}
		out := listed{Index: answers.Index}
		for _, row := range found.Items {
			out.Keys = append(out.Keys, row.Key)
		}
		return out, nil
	})
}

// Final reads each feed from its beginning, and each list.
func (w *changes) Final(ctx context.Context, p *workload.Process) error {
	return workload.FinalReads(ctx, w.keys.All(), func(key string) error {
		if err := declare(ctx, p, key); err != nil {
			return err
		}
		var until uint64
		for of := range groups {
			seen, err := list(ctx, p, key, of)
			if err != nil {
				return err
			}
			until = seen.Index
		}
		return whole(ctx, p, key, until)
	})
}
