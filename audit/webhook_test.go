package audit_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"dormouse/audit"
	"dormouse/internal/hooksign"
)

// endpoint receives the lines of a log, and fails from time to time.
type endpoint struct {
	t      testing.TB
	secret []byte

	mu    sync.Mutex
	fails int      // guarded by mu; requests that fail next
	lines []string // guarded by mu; in the order of their first arrival
	last  int      // guarded by mu
	wrong int      // guarded by mu; requests out of order
}

func (e *endpoint) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		e.t.Error(err)
	}
	stamp, _, _ := strings.Cut(strings.TrimPrefix(r.Header.Get(hooksign.Header), "t="), ",")
	seconds, err := strconv.ParseInt(stamp, 10, 64)
	if err != nil || hooksign.Sign(e.secret, time.Unix(seconds, 0), body) != r.Header.Get(hooksign.Header) {
		e.t.Errorf("a wrong signature: %q", r.Header.Get(hooksign.Header))
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	var first, through int
	if _, err := fmt.Sscanf(r.Header.Get("Dormouse-Audit-Lines"), "%d-%d", &first, &through); err != nil || first > e.last+1 {
		e.wrong++
	}
	if e.fails > 0 {
		e.fails--
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	for line := range strings.Lines(string(body)) {
		if len(e.lines) < first {
			e.lines = append(e.lines, line)
		}
		first++
	}
	e.last = through
}

func (e *endpoint) got() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return strings.Join(e.lines, "")
}

// runUntil runs a webhook until it has delivered its lines.
func runUntil(t *testing.T, w *audit.Webhook, delivered func() bool) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	for deadline := time.Now().Add(20 * time.Second); !delivered(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d lines are not delivered", w.Undelivered())
		}
	}
	stop()
	<-done
}

// The endpoint gets all lines in order, whatever fails: its answers, or the process that sends.
func TestAWebhookGetsAllLinesInOrder(t *testing.T) {
	secret := []byte("sixteen bytes or")
	e := &endpoint{t: t, secret: secret, fails: 2}
	server := httptest.NewServer(e)
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	for round := range 3 {
		s := open(t, o)
		w, err := audit.NewWebhook(s.Log, audit.WebhookOptions{URL: server.URL, Secret: secret})
		if err != nil {
			t.Fatal(err)
		}
		done := make(chan struct{})
		ctx, stop := context.WithCancel(t.Context())
		go func() { defer close(done); w.Run(ctx) }()
		s.fill(30)
		for deadline := time.Now().Add(20 * time.Second); w.Undelivered() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("round %d: %d lines are not delivered", round, w.Undelivered())
			}
		}
		stop()
		<-done
		s.end()
	}
	want := ""
	for _, path := range files(t, dir) {
		want += read(t, path)
	}
	if got := e.got(); got != want || e.wrong > 0 {
		t.Errorf("%d requests out of order; the endpoint has %d bytes of %d", e.wrong, len(got), len(want))
	}
}

// The address of an endpoint may hold a secret, which must not be in the log of the node.
func TestTheErrorOfAWebhookHasNoSecret(t *testing.T) {
	s := open(t, options(filepath.Join(t.TempDir(), "audit")))
	s.fill(1)
	server := httptest.NewServer(nil)
	server.Close() // its port is closed
	ctx, stop := context.WithCancel(t.Context())
	var failed error
	w, err := audit.NewWebhook(s.Log, audit.WebhookOptions{URL: server.URL + "/SECRET?token=SECRET", Failed: func(err error) { failed = err; stop() }})
	if err != nil {
		t.Fatal(err)
	}
	w.Run(ctx)
	if failed == nil || strings.Contains(failed.Error(), "SECRET") || !strings.Contains(failed.Error(), server.URL+": dial") {
		t.Error(failed)
	}
}

// Lines that were removed before the endpoint got them are counted.
func TestALineThatWasRemovedIsCountedAsSkipped(t *testing.T) {
	secret := []byte("sixteen bytes or")
	e := &endpoint{t: t, secret: secret}
	server := httptest.NewServer(e)
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "audit")
	o := options(dir)
	o.Files = 2
	s := open(t, o)
	s.fill(100)
	first := records(t, dir)[0].Seq
	w, err := audit.NewWebhook(s.Log, audit.WebhookOptions{URL: server.URL, Secret: secret})
	if err != nil {
		t.Fatal(err)
	}
	runUntil(t, w, func() bool { return w.Undelivered() == 0 })
	s.end()
	if w.Skipped() != first-1 || first == 1 {
		t.Errorf("%d lines are skipped, and the log begins with %d", w.Skipped(), first)
	}
}

// A log whose files were removed numbers its lines from 1 again. The cursor of the log before must not hide them.
func TestAWebhookWhoseCursorIsAheadOfTheLogBeginsAgain(t *testing.T) {
	secret := []byte("sixteen bytes or")
	e := &endpoint{t: t, secret: secret}
	server := httptest.NewServer(e)
	defer server.Close()
	dir := filepath.Join(t.TempDir(), "audit")
	s := open(t, options(dir))
	s.fill(10)
	write(t, filepath.Join(dir, "webhook"), "100\n")
	var failed atomic.Value
	w, err := audit.NewWebhook(s.Log, audit.WebhookOptions{URL: server.URL, Secret: secret, Failed: func(err error) { failed.Store(err) }})
	if err != nil {
		t.Fatal(err)
	}
	runUntil(t, w, func() bool { return e.got() != "" && w.Undelivered() == 0 })
	s.end()
	want := ""
	for _, path := range files(t, dir) {
		want += read(t, path)
	}
	if got := e.got(); got != want || w.Skipped() != 0 {
		t.Errorf("the endpoint has %d bytes of %d; %d lines are skipped", len(got), len(want), w.Skipped())
	}
	if err, _ := failed.Load().(error); err == nil || !strings.Contains(err.Error(), "100") {
		t.Errorf("the report is %v", err)
	}
	if got, want := read(t, filepath.Join(dir, "webhook")), fmt.Sprintln(s.Stats().Last); got != want {
		t.Errorf("the cursor is %q, want %q", got, want)
	}
}

// A write that fails may leave a part of a line, which the next write replaces. The webhook must not send it.
func TestAWebhookSendsNothingOfAWriteThatFailed(t *testing.T) {
	var full atomic.Bool
	o := options(filepath.Join(t.TempDir(), "audit"))
	o.SetFault(func() error {
		if full.Load() {
			return errors.New("no space left on device")
		}
		return nil
	})
	l, err := audit.Open(o)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context(), false) //nolint:errcheck // nothing waits for it
	step := func(fails bool, detail string) {
		full.Store(fails)
		l.WriteUnsynced(audit.Record{Kind: audit.KindDenial, Detail: detail})
		if err := l.Sync(); err != nil {
			t.Fatal(err)
		}
	}
	step(false, "first")
	step(true, "lost")
	secret := []byte("sixteen bytes or")
	e := &endpoint{t: t, secret: secret}
	server := httptest.NewServer(e)
	defer server.Close()
	w, err := audit.NewWebhook(l, audit.WebhookOptions{URL: server.URL, Secret: secret, Failed: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); w.Run(ctx) }()
	delivered := func() {
		for deadline := time.Now().Add(10 * time.Second); w.Undelivered() > 0; time.Sleep(time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatalf("%d lines are not delivered", w.Undelivered())
			}
		}
	}
	delivered()
	step(false, "second")
	delivered()
	stop()
	<-done
	if got, want := e.got(), read(t, files(t, o.Dir)[0]); got != want || w.Skipped() != 0 {
		t.Errorf("the endpoint has\n%sand the log\n%s%d lines are skipped", got, want, w.Skipped())
	}
}

// A power cut removes the lines that are not on disk, and the log then gives their seqs to other lines. The endpoint would
// never get those, so it gets a line only once it is on disk.
func TestALineIsSentOnlyOnceItIsOnDisk(t *testing.T) {
	l, err := audit.Open(options(filepath.Join(t.TempDir(), "audit")))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close(t.Context(), false) //nolint:errcheck // nothing waits for it
	l.WriteUnsynced(audit.Record{Kind: audit.KindDenial})
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	onDisk := l.Stats().Last
	l.WriteUnsynced(audit.Record{Kind: audit.KindDenial})
	sent := make(chan string, 2)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		sent <- r.Header.Get("Dormouse-Audit-Lines")
	}))
	defer server.Close()
	w, err := audit.NewWebhook(l, audit.WebhookOptions{URL: server.URL, Secret: []byte("sixteen bytes or")})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	ctx, stop := context.WithCancel(t.Context())
	go func() { defer close(done); w.Run(ctx) }()
	if got, want := <-sent, fmt.Sprintf("1-%d", onDisk); got != want {
		t.Fatalf("lines %s were sent, want %s", got, want)
	}
	if err := l.Sync(); err != nil {
		t.Fatal(err)
	}
	if got, want := <-sent, fmt.Sprintf("%d-%d", onDisk+1, l.Stats().Last); got != want {
		t.Errorf("after the sync lines %s were sent, want %s", got, want)
	}
	stop()
	<-done
}
