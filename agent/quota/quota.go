// Package quota compares what a scope holds with what its policy allows.
package quota

import (
	"fmt"

	"dormouse/agent"
)

// Quota is a limit of a policy on what a scope holds.
type Quota struct {
	Noun string // what it limits, in the plural
	Name string // of the policy's member
	Max  uint64 // 0 means no limit
}

// Count is the number of quotas of a policy.
const Count = 6

// Usage returns what counts against each quota, in the order of Of.
func Usage(s *agent.Scope) [Count]uint64 {
	return [Count]uint64{s.Keys, s.Bytes, s.Agents, s.Threads, s.Entries, s.Timers}
}

// Of returns the quotas of a policy.
func Of(p agent.Policy) [Count]Quota {
	return [Count]Quota{
		{"keys", "keys_max", p.KeysMax},
		{"bytes", "bytes_max", p.BytesMax},
		{"agents", "agents_max", p.AgentsMax},
		{"threads", "threads_max", p.ThreadsMax},
		{"entries", "entries_max", p.EntriesMax},
		{"timers", "timers_max", p.TimersMax},
	}
}

// Exceeded returns the error of a commit that takes more than a policy allows, or nil. before and
// after are the scope without and with the commit. A commit that adds nothing passes, even if the
// scope is over its quota.
func Exceeded(before, after *agent.Scope, p agent.Policy) *agent.Error {
	had, has := Usage(before), Usage(after)
	for i, q := range Of(p) {
		if q.Max == 0 || has[i] <= q.Max || has[i] <= had[i] {
			continue
		}
		e := agent.Errorf(agent.CodeQuotaExceeded, "scope %q has %d %s, and this commit would make it %d: its policy allows %s = %d; "+
			"delete some, or have an operator raise the limit", after.Name, had[i], q.Noun, has[i], q.Name, q.Max)
		e.Limit = fmt.Sprintf("%s=%d", q.Name, q.Max)
		return e
	}
	return nil
}

// Room reports whether a scope is below each of its quotas.
func Room(s *agent.Scope, p agent.Policy) bool {
	has := Usage(s)
	for i, q := range Of(p) {
		if q.Max > 0 && has[i] >= q.Max {
			return false
		}
	}
	return true
}
