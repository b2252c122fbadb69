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
		if index(after) < index(before) || c.ops[after].Return < c.ops[before].Invoke {
			c.findings.add("epoch went back", c.key, c.of(before, after), "%s was given epoch %d at index %d, and %s epoch %d at index %d",
				nameOf(c.ops[before]), epochs[i-1], index(before), nameOf(c.ops[after]), epochs[i], index(after))
		}
	}
	released := map[uint64]int{}
	for call := range c.ops {
		if made := c.changes[call]; made != nil && made.does == doesRelease && made.out != nil {
			released[made.in.Epoch] = call
		}
	}
	for call, op := range c.ops {
		epoch, at := c.under(call)
		if at == 0 {
			continue
		}
		if end, ended := released[epoch]; ended && at > index(end) {
			c.findings.add("outside its holding", c.key, c.of(end, call), "%s was under epoch %d at index %d, and %s had ended that at index %d",
				nameOf(op), epoch, at, nameOf(c.ops[end]), index(end))
		}
		place, known := slices.BinarySearch(epochs, epoch)
		if known && at < index(c.began[epoch]) {
			c.findings.add("outside its holding", c.key, c.of(c.began[epoch], call), "%s was under epoch %d at index %d, and %s began it at index %d",
				nameOf(op), epoch, at, nameOf(c.ops[c.began[epoch]]), index(c.began[epoch]))
		}
		if known {
			place++
		}
		if place < len(epochs) && at > index(c.began[epochs[place]]) {
			next := c.began[epochs[place]]
			c.findings.add("outside its holding", c.key, c.of(next, call), "%s was under epoch %d at index %d, and %s had begun epoch %d at index %d",
				nameOf(op), epoch, at, nameOf(c.ops[next]), epochs[place], index(next))
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
		o, newest := c.object(name), -1
		for _, version := range o.versions {
			call := c.mustAuthor(name, o.names[version])
			epoch := c.writes[call].in.Epoch
			switch {
			case newest < 0 || epoch >= c.writes[newest].in.Epoch:
				newest = call
			default:
				c.findings.add("stale holder wrote", c.key, c.of(newest, call), "%s made version %d of %s under epoch %d, after %s had written it under epoch %d",
					nameOf(c.ops[call]), version, name, epoch, nameOf(c.ops[newest]), c.writes[newest].in.Epoch)
			}
		}
	}
}
