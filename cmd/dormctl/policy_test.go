package main

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/node/nodetest"
)

// contended is a store where another caller changes a policy right before this one writes it, a number of times.
type contended struct {
	kit.Store
	times int
}

func (c *contended) Commit(ctx context.Context, commit agent.Commit) (agent.Result, error) {
	if put, ok := commit.Ops[0].(*agent.PutScope); ok && c.times > 0 {
		c.times--
		answers, err := c.Read(ctx, agent.Reads{Scope: commit.Scope, Reads: []agent.Read{&agent.GetScope{Default: put.Default}}})
		if err != nil {
			return agent.Result{}, err
		}
		policy := agent.Policy{}
		if found, ok := answers.Answers[0].Found.(*agent.Scope); ok {
			policy = found.Policy
		}
		policy.ThreadsMax++
		other := agent.Commit{Scope: commit.Scope, Ops: []agent.Op{&agent.PutScope{Default: put.Default, Policy: policy}}}
		if _, err := c.Store.Commit(ctx, other); err != nil {
			return agent.Result{}, err
		}
	}
	return c.Store.Commit(ctx, commit)
}

// What another caller changes of a policy at the same moment stays.
func TestAChangeOfAPolicyKeepsWhatOthersChange(t *testing.T) {
	n := nodetest.Start(t)
	dormctl := func(times int, args ...string) (out, errs string, code int) {
		var stdout, stderr bytes.Buffer
		a := &kit.App{
			Stdin: strings.NewReader(""), Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" },
			Dial: func(kit.Target) (kit.Store, error) { return &contended{kept{n.Client}, times}, nil },
		}
		code = run(t.Context(), a, args)
		return stdout.String(), stderr.String(), code
	}
	for _, command := range [][]string{{"scopes", "put", "acme"}, {"scopes", "default"}} {
		for want, flags := range map[string][]string{
			`"keys_max":5,`: {"--keys-max", "5"}, `"bytes_max":7,`: {"--bytes-max", "7"},
		} {
			out, errs, code := dormctl(2, append(append(command, flags...), "-o", "json")...)
			if code != kit.ExitOK || !strings.Contains(out, want) {
				t.Fatalf("%q %q: exit %d: %s%s", command, flags, code, out, errs)
			}
		}
		out, _, _ := dormctl(0, append(command, "--timers-max", "9", "-o", "json")...)
		for _, want := range []string{`"keys_max":5,`, `"bytes_max":7,`, `"threads_max":4,`, `"timers_max":9`} {
			if !strings.Contains(out, want) {
				t.Errorf("%q: %s is lost:\n%s", command, want, out)
			}
		}
		if _, errs, code := dormctl(changesMax, append(command, "--keys-max", "6")...); code == kit.ExitOK || !strings.Contains(errs, "if_policy") {
			t.Errorf("%q, always beaten: exit %d: %s", command, code, errs)
		}
	}
}
