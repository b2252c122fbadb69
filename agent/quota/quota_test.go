package quota_test

import (
	"testing"

	"dormouse/agent"
	"dormouse/agent/quota"
)

func TestAQuotaIsExceededPastItsEdge(t *testing.T) {
	p := agent.Policy{KeysMax: 3, TimersMax: 2}
	for _, c := range []struct {
		before, after agent.Scope
		limit         string
	}{
		{agent.Scope{Keys: 2}, agent.Scope{Keys: 3}, ""},
		{agent.Scope{Keys: 3}, agent.Scope{Keys: 4}, "keys_max=3"},
		{agent.Scope{Keys: 5}, agent.Scope{Keys: 5}, ""},
		{agent.Scope{Keys: 5}, agent.Scope{Keys: 4}, ""},
		{agent.Scope{Keys: 5, Timers: 2}, agent.Scope{Keys: 4, Timers: 3}, "timers_max=2"},
		{agent.Scope{Threads: 1000}, agent.Scope{Threads: 2000, Bytes: 9, Entries: 9, Agents: 9}, ""},
	} {
		got := quota.Exceeded(&c.before, &c.after, p)
		if (got == nil) != (c.limit == "") || got != nil && (got.Limit != c.limit || got.Code != agent.CodeQuotaExceeded) {
			t.Errorf("%+v, then %+v: %v, want %q", c.before, c.after, got, c.limit)
		}
		if room := quota.Room(&c.before, p); room != (c.before.Keys < 3 && c.before.Timers < 2) {
			t.Errorf("%+v has room: %v", c.before, room)
		}
	}
}
