package command_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"dormouse/agent"
	"dormouse/client"
	"dormouse/jepsen/command"
)

func TestExitCodesAreTheOutcomes(t *testing.T) {
	for _, c := range []struct {
		name   string
		code   int
		stderr string
		broken error
		want   agent.Code // "" means that it is done
	}{
		{"done", 0, "", nil, ""},
		{"a conflict", 4, `{"error":{"code":"revision_mismatch","message":"m","revision":3}}`, nil, agent.CodeRevisionMismatch},
		{"not applied", 5, `{"error":{"code":"unavailable","message":"m"}}`, nil, agent.CodeUnavailable},
		{"not applied, it says, whatever the document says", 5, `{"error":{"code":"unknown","message":"m"}}`, nil, agent.CodeUnavailable},
		{"unknown", 6, `{"error":{"code":"unknown","message":"m"}}`, nil, agent.CodeUnknown},
		{"unknown, it says, whatever the document says", 6, `{"error":{"code":"unavailable","message":"m"}}`, nil, agent.CodeUnknown},
		{"failed", 1, `{"error":{"code":"failed","message":"m"}}`, nil, agent.CodeUnknown},
		{"killed", -1, "", errors.New("killed"), agent.CodeUnknown},
	} {
		t.Run(c.name, func(t *testing.T) {
			var ran []string
			ctl := &command.Ctl{ID: "p", Run: func(_ context.Context, _ []byte, args ...string) ([]byte, []byte, int, error) {
				ran = args
				return []byte(`{"index":7,"time":1,"results":[{"op":"put_value","key":"k","incarnation":1,"revision":1}]}`), []byte(c.stderr), c.code, c.broken
			}}
			r, err := client.In(ctl, "s").PutValue(t.Context(), agent.PutValue{Key: "k", Bytes: []byte("v")})
			if got := agent.CodeOf(err); got != c.want || err == nil && r.Revision != 1 {
				t.Errorf("the outcome is %q (%v), want %q", got, err, c.want)
			}
			if !slices.Equal(ran[:4], []string{"commit", "-", "--request-id", "p/1"}) {
				t.Errorf("it ran dormctl %v", ran)
			}
		})
	}
}
