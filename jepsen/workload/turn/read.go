package turn

import (
	"slices"

	"dormouse/jepsen/workload"
)

// judgeRead judges one read alone.
func (g *group) judgeRead(call int, state *turnState) {
	commits := map[int]bool{} // commits of which it saw a part
	for _, thread := range threads {
		t := state.Threads[thread]
		if want := workload.TailOf(t.Rev, g.asks[call].Tail); uint64(len(t.By)) != want {
			g.Findings.Add("entries missing", g.Key, g.Of(call),
				"%s asked for the last %d entries of %s, which is at rev %d, and got %d", workload.NameOf(g.Ops[call]), want, thread, t.Rev, len(t.By))
		}
		for _, name := range t.By {
			commits[g.Author[workload.Write{Object: thread, Name: name}]] = true
		}
	}
	for _, checkpoint := range checkpoints {
		if c, there := state.Checkpoints[checkpoint]; there {
			commit := g.Author[workload.Write{Object: checkpoint, Name: c.By}]
			commits[commit] = true
			g.judgePointer(call, commit, checkpoint, c, state)
		}
	}
	for commit := range commits {
		g.judgeWhole(call, commit, state)
	}
}

// judgePointer checks that no read sees a pointer without its entries.
func (g *group) judgePointer(call, commit int, checkpoint string, c turnCheckpoint, state *turnState) {
	for _, put := range g.commits[commit].in.Puts {
		if put.Checkpoint != checkpoint {
			continue
		}
		if (put.Pointer == nil) != (c.Pointer == nil) || put.Pointer != nil && *put.Pointer != *c.Pointer {
			g.Findings.Add("another pointer", g.Key, g.Of(commit, call),
				"%s put %s with the pointer %s, and %s saw %s", workload.NameOf(g.Ops[commit]), checkpoint, put.Pointer, workload.NameOf(g.Ops[call]), c.Pointer)
		}
	}
	if p := c.Pointer; p != nil && p.Rev > state.Threads[p.Thread].Rev {
		g.Findings.Add("pointer without its entries", g.Key, g.Of(commit, call),
			"%s saw %s point to %s, which is at rev %d only", workload.NameOf(g.Ops[call]), checkpoint, p, state.Threads[p.Thread].Rev)
	}
}

// judgeWhole checks that a read which sees a part of a commit sees all of it.
func (g *group) judgeWhole(call, commit int, state *turnState) {
	for _, w := range g.commits[commit].writes {
		o, saw := g.Object(w.Object), state.version(w.Object)
		version, known := o.Version[w.Name]
		if version > saw || !known && o.KnownUpTo(saw) {
			g.Findings.Add("half a commit", g.Key, g.Of(commit, call),
				"%s saw something of %s, and %s at version %d without its %q", workload.NameOf(g.Ops[call]), workload.NameOf(g.Ops[commit]), w.Object, saw, w.Name)
			return
		}
	}
}

// judgeIndexes checks that the log indexes of commits and reads fit what they wrote
// and saw.
func (g *group) judgeIndexes() {
	for _, name := range objects {
		o := g.Object(name)
		var made []placed
		for _, version := range o.Versions {
			commit := g.Author[workload.Write{Object: name, Name: o.Names[version]}]
			if out := g.commits[commit].out; out != nil {
				made = append(made, placed{version, out.Index, commit})
			}
		}
		for i := 1; i < len(made); i++ {
			if before, after := made[i-1], made[i]; after.index < before.index {
				g.Findings.Add("index out of order", g.Key, g.Of(before.call, after.call),
					"%s made version %d of %s at index %d, but version %d was made at index %d",
					workload.NameOf(g.Ops[after.call]), after.version, name, after.index, before.version, before.index)
			}
		}
		for call, state := range g.reads {
			g.judgeIndex(call, state, name, made)
		}
	}
}

// placed is a version and the log index at which a commit made it.
type placed struct {
	version, index uint64
	call           int
}

// judgeIndex checks that a read at an index sees everything committed up to this
// index, and nothing after it.
func (g *group) judgeIndex(call int, state *turnState, object string, made []placed) {
	next, _ := slices.BinarySearchFunc(made, state.version(object)+1, func(p placed, version uint64) int {
		if p.version < version {
			return -1
		}
		return 1
	})
	if next < len(made) && made[next].index <= state.Index {
		g.Findings.Add("index out of order", g.Key, g.Of(made[next].call, call),
			"%s read at index %d and missed version %d of %s, made at index %d",
			workload.NameOf(g.Ops[call]), state.Index, made[next].version, object, made[next].index)
	}
	if next > 0 && made[next-1].index > state.Index {
		g.Findings.Add("index out of order", g.Key, g.Of(made[next-1].call, call),
			"%s read at index %d and saw version %d of %s, made at index %d",
			workload.NameOf(g.Ops[call]), state.Index, made[next-1].version, object, made[next-1].index)
	}
}
