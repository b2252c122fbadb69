package workload

import (
	"slices"

	"dormouse/jepsen/history"
)

// judgeRead judges what one read saw: whether it fits together by itself.
func (g *turnGroup) judgeRead(r *turnSaw) {
	tail, err := history.Decode[uint64](r.op.In)
	if err != nil || tail == 0 {
		tail = 1<<63 - 1
	}
	var seen []*turnMade
	for _, thread := range turnThreads {
		t := r.state.Threads[thread]
		if want := min(tail, t.Rev); uint64(len(t.By)) != want {
			g.findings.add("entries missing", g.key, []history.Op{r.op},
				"call %d asked for the last %d entries of %s, which is at rev %d, and got %d", r.op.ID, want, thread, t.Rev, len(t.By))
		}
		for _, by := range t.By {
			seen = append(seen, g.writer[by])
		}
	}
	for _, checkpoint := range turnCheckpoints {
		c, there := r.state.Checkpoints[checkpoint]
		if !there {
			continue
		}
		seen = append(seen, g.writer[c.By])
		g.judgePointer(r, checkpoint, c)
	}
	for i, made := range seen {
		if i == 0 || made != seen[i-1] {
			g.judgeWhole(r, made)
		}
	}
}

// judgePointer: no reader sees a pointer without its entries.
func (g *turnGroup) judgePointer(r *turnSaw, checkpoint string, c turnCheckpoint) {
	made := g.writer[c.By]
	for _, put := range made.in.Puts {
		if put.Checkpoint != checkpoint {
			continue
		}
		if (put.Pointer == nil) != (c.Pointer == nil) || put.Pointer != nil && *put.Pointer != *c.Pointer {
			g.findings.add("another pointer", g.key, []history.Op{made.op, r.op},
				"commit %s put %s with the pointer %s, and call %d saw %s", c.By, checkpoint, put.Pointer, r.op.ID, c.Pointer)
		}
	}
	if p := c.Pointer; p != nil && p.Rev > r.state.Threads[p.Thread].Rev {
		g.findings.add("pointer without its entries", g.key, []history.Op{made.op, r.op},
			"call %d saw %s point to %s, which is at rev %d only", r.op.ID, checkpoint, p, r.state.Threads[p.Thread].Rev)
	}
}

// judgeWhole: a read that sees something of a commit sees all of it.
func (g *turnGroup) judgeWhole(r *turnSaw, made *turnMade) {
	for object, want := range made.in.writes() {
		o, saw := g.objects[object], r.version(object)
		versions := made.versions[object]
		switch {
		case len(versions) > 0 && versions[len(versions)-1] > saw:
			g.findings.add("half a commit", g.key, []history.Op{made.op, r.op},
				"call %d saw something of commit %s, and %s at version %d without the commit's version %d",
				r.op.ID, made.in.By, object, saw, versions[len(versions)-1])
		case len(versions) < want && (o == nil && saw == 0 || o != nil && o.knownUpTo(saw)):
			g.findings.add("half a commit", g.key, []history.Op{made.op, r.op},
				"call %d saw something of commit %s, and %s at version %d, where %d of the commit's %d writes are missing",
				r.op.ID, made.in.By, object, saw, want-len(versions), want)
		}
	}
}

// knownUpTo tells whether the writer of every version up to one is known.
func (o *turnObject) knownUpTo(version uint64) bool {
	at, _ := slices.BinarySearch(o.versions, version+1)
	return uint64(at) == version
}

// judgeIndexes: commits and reads say at which index of the log they happened,
// and that must fit what they wrote and saw.
func (g *turnGroup) judgeIndexes() {
	for _, object := range turnObjects {
		o := g.objects[object]
		if o == nil {
			continue
		}
		var before *turnMade
		for _, version := range o.versions {
			made := o.writers[version]
			if made.out == nil {
				continue
			}
			if before != nil && made.out.Index < before.out.Index {
				g.findings.add("index out of order", g.key, []history.Op{before.op, made.op},
					"commit %s made version %d of %s at index %d, after commit %s had written it at index %d",
					made.in.By, version, object, made.out.Index, before.in.By, before.out.Index)
			}
			before = made
		}
		for i := range g.reads {
			g.judgeIndex(&g.reads[i], object, o)
		}
	}
}

// judgeIndex: a read at an index sees what was committed up to there and
// nothing after.
func (g *turnGroup) judgeIndex(r *turnSaw, object string, o *turnObject) {
	next, _ := slices.BinarySearch(o.versions, r.version(object)+1)
	for i := next; i < len(o.versions); i++ {
		if made := o.writers[o.versions[i]]; made.out != nil {
			if made.out.Index <= r.state.Index {
				g.findings.add("index out of order", g.key, []history.Op{made.op, r.op},
					"call %d read at index %d and missed version %d of %s, made at index %d", r.op.ID, r.state.Index, o.versions[i], object, made.out.Index)
			}
			break
		}
	}
	for i := next - 1; i >= 0; i-- {
		if made := o.writers[o.versions[i]]; made.out != nil {
			if made.out.Index > r.state.Index {
				g.findings.add("index out of order", g.key, []history.Op{made.op, r.op},
					"call %d read at index %d and saw version %d of %s, made at index %d", r.op.ID, r.state.Index, o.versions[i], object, made.out.Index)
			}
			break
		}
	}
}
