package workload

import (
	"maps"
	"slices"
)

// judgeEpochs: epochs grow, in real time and along the log, and each call
// under one is between where it began and where the next one did.
func (c *claimed) judgeEpochs() {
	epochs := slices.Sorted(maps.Keys(c.began))
	index := func(call int) uint64 { return c.changes[call].out.Index }
	for i := 1; i < len(epochs); i++ {
		before, after := c.began[epochs[i-1]], c.began[epochs[i]]
		if index(after) < index(before) || c.Ops[after].Return < c.Ops[before].Invoke {
			c.Findings.Add("epoch went back", c.Key, c.Of(before, after), "%s was given epoch %d at index %d, and %s epoch %d at index %d",
				NameOf(c.Ops[before]), epochs[i-1], index(before), NameOf(c.Ops[after]), epochs[i], index(after))
		}
	}
	released := map[uint64]int{}
	for call := range c.Ops {
		if made := c.changes[call]; made != nil && made.does == doesRelease && made.out != nil {
			released[made.in.Epoch] = call
		}
	}
	for call, op := range c.Ops {
		epoch, at := c.under(call)
		if at == 0 {
			continue
		}
		if end, ended := released[epoch]; ended && at > index(end) {
			c.Findings.Add("outside its holding", c.Key, c.Of(end, call), "%s was under epoch %d at index %d, and %s had ended that at index %d",
				NameOf(op), epoch, at, NameOf(c.Ops[end]), index(end))
		}
		place, known := slices.BinarySearch(epochs, epoch)
		if known && at < index(c.began[epoch]) {
			c.Findings.Add("outside its holding", c.Key, c.Of(c.began[epoch], call), "%s was under epoch %d at index %d, and %s began it at index %d",
				NameOf(op), epoch, at, NameOf(c.Ops[c.began[epoch]]), index(c.began[epoch]))
		}
		if known {
			place++
		}
		if place < len(epochs) && at > index(c.began[epochs[place]]) {
			next := c.began[epochs[place]]
			c.Findings.Add("outside its holding", c.Key, c.Of(next, call), "%s was under epoch %d at index %d, and %s had begun epoch %d at index %d",
				NameOf(op), epoch, at, NameOf(c.Ops[next]), epochs[place], index(next))
		}
	}
}

// under is the epoch under which a call was made that was answered, and the
// index at which it was; 0 for one that was under none.
func (c *claimed) under(call int) (epoch, index uint64) {
	if w := c.writes[call]; w != nil && w.out != nil {
		return w.in.Epoch, w.out.Index
	}
	if made := c.changes[call]; made != nil && made.out != nil && made.does != doesTake {
		return made.in.Epoch, made.out.Index
	}
	return 0, 0
}

// judgeFence: in what is written under the fence, epochs never go back.
func (c *claimed) judgeFence() {
	for _, name := range []string{fencedLog, fencedValue} {
		o, newest := c.Object(name), -1
		for _, version := range o.Versions {
			call := c.MustAuthor(name, o.Names[version])
			epoch := c.writes[call].in.Epoch
			switch {
			case newest < 0 || epoch >= c.writes[newest].in.Epoch:
				newest = call
			default:
				c.Findings.Add("stale holder wrote", c.Key, c.Of(newest, call), "%s made version %d of %s under epoch %d, after %s had written it under epoch %d",
					NameOf(c.Ops[call]), version, name, epoch, NameOf(c.Ops[newest]), c.writes[newest].in.Epoch)
			}
		}
	}
}
