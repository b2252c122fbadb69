package main

import (
	"context"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
)

// silentStore is a cluster that answers no read.
type silentStore struct{ *fakeNode }

// Read implements agent.Service.
func (silentStore) Read(ctx context.Context, _ agent.Reads) (agent.Answers, error) {
	<-ctx.Done()
	return agent.Answers{}, ctx.Err()
}

func TestACompletionDoesNotWaitForAClusterThatIsSilent(t *testing.T) {
	for _, test := range []struct {
		timeout string
		want    time.Duration
	}{
		{"10s", completionWaitMax},
		{"100ms", 100 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			var out strings.Builder
			a := &kit.App{
				Stdin: strings.NewReader(""), Stdout: &out, Stderr: io.Discard,
				Getenv: func(string) string { return "" },
				Dial:   func(kit.Target) (kit.Store, error) { return silentStore{newFakeNode()}, nil },
			}
			begin := time.Now()
			code := run(t.Context(), a, []string{"__complete", "--timeout", test.timeout, "checkpoints", "get", ""})
			if waited := time.Since(begin); code != kit.ExitOK || waited != test.want {
				t.Errorf("--timeout %s: the completion ended with %d after %v, want %d after %v", test.timeout, code, waited, kit.ExitOK, test.want)
			}
			if got := out.String(); got != ":4\n" {
				t.Errorf("--timeout %s: the completion offers %q, want no ids", test.timeout, got)
			}
		})
	}
}
