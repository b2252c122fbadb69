package main

import (
	"regexp"
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/node/nodetest"
)

func TestInstancesAreWatchedUntilInterrupted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := nodetest.Start(t)
		if _, err := n.PutManager(t.Context(), agent.PutManager{Manager: agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerDocument}}}); err != nil {
			t.Fatal(err)
		}
		// A node that becomes a member after the watch began is a line of its own.
		if _, err := n.Instances().Start(t.Context(), agent.InstanceRef{Manager: "m", Key: "first"}, agent.StartInstance{}); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			form, want string
		}{
			{"table", `^missed: the watch begins
\S+Z  a  waking  called  n1
\S+Z  a  awake  (fresh|thawed)  n1
\S+Z  a  draining  manual  n1
\S+Z  a  dormant  manual  n1
$`},
			{"json", `^{"missed":true,"reason":"the watch begins"}
{"manager":"m","key":"a","node":"n1","epoch":\d+,"status":"waking","reason":"called","at":\d+}
`},
		} {
			out := live(t, n, 80, 25, func() {
				synctest.Wait()
				for _, key := range []string{"b", "a"} {
					ref := agent.InstanceRef{Manager: "m", Key: key}
					if _, err := n.Instances().Start(t.Context(), ref, agent.StartInstance{}); err != nil {
						t.Fatal(err)
					}
					if err := n.Instances().Stop(t.Context(), ref); err != nil {
						t.Fatal(err)
					}
				}
			}, "instances", "watch", "m", "a", "-o", c.form)
			if !regexp.MustCompile(c.want).MatchString(out) {
				t.Errorf("as %s:\n%s", c.form, out)
			}
		}
	})
}
