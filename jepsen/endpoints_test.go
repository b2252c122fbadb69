package jepsen_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/jepsen"
	"dormouse/jepsen/check"
	"dormouse/jepsen/history"
)

// hooked runs Disturb in virtual time with hooks that write their calls to a file.
func hooked(ctx context.Context, t *testing.T, long time.Duration, fault string) (did []string, windows []check.Window, err error) {
	t.Helper()
	dir := t.TempDir()
	diary, path := filepath.Join(dir, "diary"), filepath.Join(dir, "history.jsonl")
	record, err := history.Create(path, history.Header{})
	if err != nil {
		t.Fatal(err)
	}
	target := jepsen.Target{HookFault: fmt.Sprintf("echo fault >>%s; %s", diary, fault), HookHeal: "echo heal >>" + diary}
	err = jepsen.Disturb(ctx, target, long, record)
	if closing := record.Close(); closing != nil {
		t.Fatal(closing)
	}
	h, reading := history.Read(path)
	if reading != nil {
		t.Fatal(reading)
	}
	text, _ := os.ReadFile(diary) // missing if no hook ran
	return strings.Fields(string(text)), check.Windows(h), err
}

func TestHooksTakeTurnsAndTheHealingOneIsLast(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		did, windows, err := hooked(t.Context(), t, time.Minute, "true")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(did, " "); got != "fault heal fault heal fault heal" {
			t.Errorf("in a minute: %s", got)
		}
		for _, w := range windows {
			if w.To == history.Never || w.To-w.From < 10*time.Second {
				t.Errorf("fault %d lasted from %v to %v", w.Step, w.From, w.To)
			}
		}
	})
}

func TestWhateverHappensTheHealingHookRuns(t *testing.T) {
	for name, fault := range map[string]string{"the run is interrupted": "true", "the other hook fails": "false"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), 7*time.Second)
				defer cancel()
				did, _, err := hooked(ctx, t, time.Hour, fault)
				if got := strings.Join(did, " "); got != "fault heal" {
					t.Errorf("it came to: %s", got)
				}
				if (err != nil) != (fault == "false") {
					t.Errorf("error %v", err)
				}
			})
		})
	}
}
