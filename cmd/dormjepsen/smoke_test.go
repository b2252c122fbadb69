package main

import (
	"strings"
	"testing"
	"time"

	"dormouse/jepsen/check"
)

func TestSmokeMeetsEveryWorkload(t *testing.T) {
	c := newConsole(t)
	out, errs, code := c.run("smoke", "--dir", "d", "--seed", "3")
	if code != exitOK || !strings.Contains(out, "ok: 6 of 6 runs, 42 calls judged") {
		t.Fatalf("exit %d: %s%s", code, out, errs)
	}
	seen := map[string]bool{"plan": true, "pod": true, "host": true} // left out: see smokeParts
	for _, o := range c.made {
		for _, name := range o.Workloads {
			seen[name] = true
		}
		if o.Seed != 3 || o.Time != 20*time.Second {
			t.Errorf("made %+v", o)
		}
	}
	if out, _, _ := c.run("list", "-o", "json"); len(seen) != strings.Count(strings.Split(out, `"nemeses"`)[0], `"name"`) {
		t.Errorf("only %v of %s", seen, out)
	}
	c.verdict = check.Violation
	if out, _, code := c.run("smoke", "-o", "json"); code != exitViolation || !strings.Contains(out, `{"verdict":"violation","runs":6,"made":6,`) {
		t.Errorf("exit %d: %s", code, out)
	}
}
