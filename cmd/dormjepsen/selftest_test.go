package main

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"dormouse/internal/seededbug"
	"dormouse/jepsen/check"
	"dormouse/jepsen/seeded"
)

func TestASelfTestFindsEveryBugAndNothingElse(t *testing.T) {
	for _, test := range []struct {
		name       string
		bug, sound check.Verdict
		noRun      error
		want       int
	}{
		{"all is as it should be", check.Violation, check.OK, nil, exitOK},
		{"a bug is not found", check.OK, check.OK, nil, exitViolation},
		{"a bug stays undecided", check.Unknown, check.OK, nil, exitUnknown},
		{"a sound build is blamed", check.Violation, check.Violation, nil, exitViolation},
		{"a sound build stays undecided", check.Violation, check.Unknown, nil, exitUnknown},
		{"a bug cannot be run with", check.Unknown, check.OK, errors.New("no room"), exitFailed},
	} {
		t.Chdir(t.TempDir())
		var out, errs bytes.Buffer
		a := &app{
			stdout: &out, stderr: &errs,
			seeded: func(_ context.Context, _ seeded.Options, trials []seeded.Trial) ([]seeded.Result, error) {
				var results []seeded.Result
				for _, s := range trials {
					results = append(results, seeded.Result{Trial: s, Verdict: test.bug, Err: test.noRun, By: []string{"turn: half a commit"}})
				}
				return results, nil
			},
			sound: func(_ context.Context, _ seeded.Options, s seeded.Trial) (seeded.Result, error) {
				return seeded.Result{Trial: s, Verdict: test.sound}, nil
			},
		}
		if code := a.main(t.Context(), []string{"selftest", string(seededbug.MapOrder)}); code != test.want {
			t.Errorf("%s: exit %d: %s%s", test.name, code, out.String(), errs.String())
		}
		for _, want := range []string{string(seededbug.MapOrder), "(none)"} {
			if !strings.Contains(out.String(), want) {
				t.Errorf("%s: no %s in %s", test.name, want, out.String())
			}
		}
	}
}
