package client_test

import (
	"testing"
	"testing/synctest"

	"dormouse/agent"
	"dormouse/client"
)

func TestStatsCountRetriesAndWhatWasSettled(t *testing.T) {
	for _, test := range []struct {
		name   string
		script []*agent.Error
		want   client.Stats
	}{
		{"at once", []*agent.Error{nil}, client.Stats{}},
		{"not applied at first", []*agent.Error{code(agent.CodeUnavailable), nil}, client.Stats{Retries: 1}},
		{"unknown at first", []*agent.Error{code(agent.CodeUnknown), code(agent.CodeUnavailable), nil}, client.Stats{Retries: 2, Settled: 1}},
		{"refused in the log", []*agent.Error{code(agent.CodeUnknown), final(agent.CodeConflict)}, client.Stats{Retries: 1, Settled: 1}},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w, f := newWires(t), &fake{script: test.script}
				w.serve("a", f, f)
				c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
				_, _ = c.Commit(t.Context(), put("k")) // TestRetryMatrix checks the outcome
				if got := c.Stats(); got != test.want {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
			})
		})
	}
	synctest.Test(t, func(t *testing.T) {
		w, f := newWires(t), &fake{script: []*agent.Error{code(agent.CodeUnknown)}}
		w.serve("a", f, f)
		c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
		_, _ = c.Commit(t.Context(), put("k"))
		if got := c.Stats(); got.Settled != 0 || got.Retries == 0 {
			t.Errorf("a commit that stayed unknown counts as %+v", got)
		}
	})
}
