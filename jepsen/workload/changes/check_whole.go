package changes

import (
	"cmp"
	"maps"
	"slices"

	"dormouse/jepsen/history"
	"dormouse/jepsen/workload"
)

// wholeFeed is a feed that final polls have read from its beginning through an index.
type wholeFeed struct {
	first, last int    // polls
	until       uint64 // the index of a list that was made before
}

// judgeWholes checks that a whole feed tells of each answered change whose index is not known: the
// answers to some calls of one op have none.
func (j *judge) judgeWholes() {
	feeds := j.wholeFeeds()
	for _, c := range slices.SortedFunc(maps.Keys(j.changes), func(a, b change) int { return cmp.Compare(a.String(), b.String()) }) {
		k := j.changes[c]
		if k.index > 0 || k.call < 0 || j.ops[k.call].Outcome != history.OK {
			continue
		}
		at := slices.IndexFunc(feeds, func(f wholeFeed) bool { return j.listedBetween(k.call, f) })
		if at >= 0 {
			f := feeds[at]
			j.add("change left out", []int{k.call, f.first, f.last}, "%s was answered before a list at index %d, and the polls from %s to %s told of all changes through it without %s",
				workload.NameOf(j.ops[k.call]), f.until, workload.NameOf(j.ops[f.first]), workload.NameOf(j.ops[f.last]), k.change)
		}
	}
}

// listedBetween reports whether a list at the last index of a feed began after the answer to a commit. So
// the commit is in the feed.
func (j *judge) listedBetween(commit int, f wholeFeed) bool {
	return slices.ContainsFunc(j.lists, func(l oneList) bool {
		return l.out.Index == f.until && j.ops[commit].Return < j.ops[l.call].Invoke
	})
}

// wholeFeeds returns the feeds that the final polls have read without a gap.
func (j *judge) wholeFeeds() (all []wholeFeed) {
	var feed wholeFeed
	var next poll // that continues feed; the zero poll if none does
	for _, p := range j.polls {
		switch {
		case p.in.Until == 0:
			continue
		case p.in == poll{From: 1, Until: p.in.Until}:
			feed = wholeFeed{first: p.call, until: p.in.Until}
		case p.in != next || j.ops[p.call].Process != j.ops[feed.first].Process:
			next = poll{}
			continue
		}
		if next = after(p.in, p.out); p.out.Floor > 0 || p.out.End != "" {
			next = poll{}
		} else if next.From > feed.until {
			feed.last, next = p.call, poll{}
			all = append(all, feed)
		}
	}
	return all
}
