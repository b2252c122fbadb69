package agent_test

import (
	"testing"

	"dormouse/agent"
)

func TestAPlaceIsWhereAFeedGoesOnAfter(t *testing.T) {
	for _, c := range []struct {
		text       string
		from, skip uint64
		ok         bool
	}{
		{(&agent.Changed{Index: 57, Ordinal: 3}).Place(), 57, 4, true},
		{"57.0", 57, 1, true},
		{"57", 58, 0, true},
		{"0", 1, 0, true},
		{"", 0, 0, false},
		{"57.", 0, 0, false},
		{"-1", 0, 0, false},
		{"1.2.3", 0, 0, false},
		{"18446744073709551615", 0, 0, false},
		{"1.18446744073709551615", 0, 0, false},
	} {
		from, skip, ok := agent.AfterPlace(c.text)
		if ok != c.ok || ok && (from != c.from || skip != c.skip) {
			t.Errorf("%q: %d, %d, %t", c.text, from, skip, ok)
		}
	}
}

func TestAPathNamesWhatHasChanged(t *testing.T) {
	for want, c := range map[string]agent.Changed{
		"threads/t/1":   {Kind: agent.ChangedThread, Key: "t/1"},
		"memory/anna/m": {Kind: agent.ChangedMemory, Agent: "anna", Key: "m"},
	} {
		if got := c.Path(); got != want {
			t.Errorf("%+v has path %q", c, got)
		}
	}
}
