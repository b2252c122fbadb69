package txn

import (
	"fmt"

	"dormouse/agent"
)

// pinsRetryMS is how long a commit should wait for an entry in which its compactions have room.
const pinsRetryMS = 100

// CheckCompaction refuses a compaction if the earlier ones of its commit, or of its entry, have read
// more than agent.CompactionPinsMax checkpoints and forks.
func (c *Tx) CheckCompaction() error {
	const limit = "compaction_pins_max"
	switch {
	case c.Level < CompactionLevel:
		return nil
	case c.pinsRead > agent.CompactionPinsMax:
		e := agent.Errorf(agent.CodeTooLarge,
			"the compactions of this commit have read %d checkpoints and forks of their threads, and the limit is %d: send fewer compactions in a commit",
			c.pinsRead, agent.CompactionPinsMax)
		e.Field, e.Limit = "ops", fmt.Sprintf("%s=%d", limit, agent.CompactionPinsMax)
		return e
	case c.Entry.pinsRead > agent.CompactionPinsMax:
		e := agent.Errorf(agent.CodeOverloaded, "the compactions of other commits have read %d checkpoints and forks in this log entry: retry", c.Entry.pinsRead)
		e.Limit, e.RetryAfterMS = fmt.Sprintf("%s=%d", limit, agent.CompactionPinsMax), pinsRetryMS
		return e
	}
	return nil
}

// CountPin counts a checkpoint or a fork that a compaction reads.
func (c *Tx) CountPin() {
	c.pinsRead++
	c.Entry.pinsRead++
}
