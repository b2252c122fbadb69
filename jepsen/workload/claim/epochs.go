package claim

import (
	"maps"
	"slices"

	"dormouse/jepsen/workload"
)

// JudgeEpochs checks that epochs grow, in real time and along the log. It also checks
// that each call under an epoch is between the beginnings of this epoch and the next.
func (c *Claimed) JudgeEpochs() {
	epochs := slices.Sorted(maps.Keys(c.began))
	index := func(call int) uint64 { return c.Changes[call].Out.Index }
	for i := 1; i < len(epochs); i++ {
		before, after := c.began[epochs[i-1]], c.began[epochs[i]]
		if index(after) > 0 && index(after) < index(before) || c.Ops[after].Return < c.Ops[before].Invoke {
			c.Findings.Add("epoch went back", c.Key, c.Of(before, after), "%s was given epoch %d at index %d, and %s epoch %d at index %d",
				workload.NameOf(c.Ops[before]), epochs[i-1], index(before), workload.NameOf(c.Ops[after]), epochs[i], index(after))
		}
	}
	released := map[uint64]int{}
	for call := range c.Ops {
		if made := c.Changes[call]; made != nil && made.Does == DoesRelease && made.Out != nil {
			released[made.In.Epoch] = call
		}
	}
	for call, op := range c.Ops {
		epoch, at := c.under(call)
		if at == 0 {
			continue
		}
		if end, ended := released[epoch]; ended && index(end) > 0 && at > index(end) {
			c.Findings.Add("outside its holding", c.Key, c.Of(end, call), "%s was under epoch %d at index %d, and %s had ended that at index %d",
				workload.NameOf(op), epoch, at, workload.NameOf(c.Ops[end]), index(end))
		}
		place, known := slices.BinarySearch(epochs, epoch)
		if known && at < index(c.began[epoch]) {
			c.Findings.Add("outside its holding", c.Key, c.Of(c.began[epoch], call), "%s was under epoch %d at index %d, and %s began it at index %d",
				workload.NameOf(op), epoch, at, workload.NameOf(c.Ops[c.began[epoch]]), index(c.began[epoch]))
		}
		if known {
			place++
		}
		if place < len(epochs) && index(c.began[epochs[place]]) > 0 && at > index(c.began[epochs[place]]) {
			next := c.began[epochs[place]]
			c.Findings.Add("outside its holding", c.Key, c.Of(next, call), "%s was under epoch %d at index %d, and %s had begun epoch %d at index %d",
				workload.NameOf(op), epoch, at, workload.NameOf(c.Ops[next]), epochs[place], index(next))
		}
	}
}

// under returns the epoch under which an answered call was made, and its index. Both
// are 0 if it was under none.
func (c *Claimed) under(call int) (epoch, index uint64) {
	if w := c.Writes[call]; w != nil && w.Out != nil {
		return w.In.Epoch, w.Out.Index
	}
	if made := c.Changes[call]; made != nil && made.Out != nil && made.Does != DoesTake {
		return made.In.Epoch, made.Out.Index
	}
	return 0, 0
}

// JudgeFence checks that epochs never decrease in the order of the writes under the
// fence, and that no write under an epoch follows the mark of the call that ended it. The order
// holds within an entry of the log too, where indexes show none.
func (c *Claimed) JudgeFence() {
	for _, name := range []string{FencedLog, fencedValue} {
		o, newest, least := c.Object(name), -1, uint64(0)
		for _, version := range o.Versions {
			call := c.MustAuthor(name, o.Names[version])
			epoch, next := c.written(call)
			switch {
			case epoch == 0:
			case epoch >= least:
				newest, least = call, next
			default:
				c.Findings.Add("stale holder wrote", c.Key, c.Of(newest, call), "%s made version %d of %s under epoch %d, after %s, which no epoch below %d may follow",
					workload.NameOf(c.Ops[call]), version, name, epoch, workload.NameOf(c.Ops[newest]), least)
			}
		}
	}
}

// written returns the epoch of a call that wrote to the objects, or 0 if it is not known, and the
// least epoch under which they may be written after it.
func (c *Claimed) written(call int) (epoch, next uint64) {
	made := c.Changes[call]
	switch {
	case made == nil:
		return c.Writes[call].In.Epoch, c.Writes[call].In.Epoch
	case made.Does == DoesRelease:
		return made.In.Epoch, made.In.Epoch + 1
	case made.Out != nil:
		return made.Out.Epoch, made.Out.Epoch
	default:
		return 0, 0
	}
}
