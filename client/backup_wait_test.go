package client_test

import (
	"context"
	"io"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/client"
)

// A copy of the store that no node can begin ends with the client's timeout, as all calls do.
func TestABackupWaitsForANodeNoLongerThanTheTimeout(t *testing.T) {
	c, err := client.Dial(client.Options{Endpoints: []string{"127.0.0.1:1"}, Timeout: 100 * time.Millisecond, Fixed: true})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close() //nolint:errcheck // returns nil
	for name, call := range map[string]func(context.Context) error{
		"Backup":     func(ctx context.Context) error { return c.Backup(ctx, io.Discard) },
		"TakeBackup": func(ctx context.Context) error { _, err := c.TakeBackup(ctx, nil); return err },
	} {
		ctx, cancel := context.WithCancel(t.Context()) // without a deadline
		late := time.AfterFunc(5*time.Second, cancel)
		if err := call(ctx); agent.CodeOf(err) != agent.CodeUnavailable || ctx.Err() != nil {
			t.Errorf("%s: %v", name, err)
		}
		late.Stop()
		cancel()
	}
}

// taking is a node that takes a backup, which never ends.
type taking struct{ *fake }

func (taking) TakeBackup(ctx context.Context, progress func(layout.BackupProgress)) (layout.BackupInfo, error) {
	progress(layout.BackupProgress{Phase: layout.BackupWrites, Done: 1, Total: 2})
	<-ctx.Done()
	return layout.BackupInfo{}, ctx.Err()
}

// A backup goes on without its caller: the outcome of one whose connection broke is unknown.
func TestABackupThatBreaksIsUnknown(t *testing.T) {
	w := newWires(t)
	f := &fake{}
	stop := w.serve("a", f, taking{f})
	c := w.client(client.Options{Endpoints: []string{"a"}, Fixed: true})
	_, err := c.TakeBackup(t.Context(), func(layout.BackupProgress) { go stop() })
	if agent.CodeOf(err) != agent.CodeUnknown {
		t.Errorf("take a backup: %v", err)
	}
}
