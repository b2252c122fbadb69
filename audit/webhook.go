package audit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/google/renameio/v2"

	"dormouse/internal/hooksign"
	"dormouse/internal/retry"
)

// Webhook sends the lines of a log to an endpoint: in order, and each at least once. A request is a
// POST of lines as the files have them. It has only lines that are on disk, since a power cut lets the log give
// the seq of a lost line to another one. The endpoint acknowledges all of them with a status 2xx;
// otherwise the same lines are sent again.
//
// The files of the log bound how far an endpoint may be behind. Lines that were removed before they
// were acknowledged are counted as skipped.
type Webhook struct {
	o    WebhookOptions
	log  *Log
	sent atomic.Uint64 // the seq of the last line that was acknowledged
	skip atomic.Uint64

	ahead error // the cursor was ahead of the log; nil if it was not
}

// WebhookOptions configure a Webhook.
type WebhookOptions struct {
	URL       string
	Secret    []byte            // signs requests, as requests to HTTP handlers are signed; nil means that they are not
	Transport http.RoundTripper // nil means a transport like http.DefaultTransport
	Failed    func(err error)   // is called by Run: after each failed request, and for what else is wrong; nil means no calls
}

const (
	webhookLinesMax = 500
	webhookBytesMax = 1 << 20
	webhookTimeout  = 30 * time.Second
	webhookFirst    = time.Second // pause before a request is repeated, doubled up to webhookMost
	webhookMost     = time.Minute
	webhookLook     = time.Second // between two looks for lines, if a line was not complete
	cursorName      = "webhook"
)

// NewWebhook returns the webhook of a log. It continues after the last line that was acknowledged. If the
// log does not have that line yet, its files were removed and its numbers began again: then the webhook
// begins with the first line, and Run reports it.
func NewWebhook(log *Log, o WebhookOptions) (*Webhook, error) {
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	w := &Webhook{o: o, log: log}
	raw, err := os.ReadFile(w.cursor())
	if errors.Is(err, fs.ErrNotExist) {
		return w, nil
	}
	if err != nil {
		return nil, err
	}
	seq, err := strconv.ParseUint(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		return nil, fmt.Errorf("%s is damaged: remove it, and all lines are sent again", w.cursor())
	}
	if last := log.Stats().Last; seq > last {
		w.ahead = fmt.Errorf("%s says that line %d was acknowledged, and the log ends with line %d: files of the log were removed. All lines that it has are sent", w.cursor(), seq, last)
		segs, err := segments(log.o.Dir)
		if err != nil {
			return nil, err
		}
		seq = 0
		if len(segs) > 0 {
			seq = segs[0] - 1
		}
	}
	w.sent.Store(seq)
	return w, nil
}

func (w *Webhook) cursor() string { return filepath.Join(w.log.o.Dir, cursorName) }

// Undelivered returns how many lines were not acknowledged yet.
func (w *Webhook) Undelivered() uint64 {
	last := w.log.Stats().Last
	return last - min(w.sent.Load(), last)
}

// Skipped returns how many lines were removed before they were acknowledged.
func (w *Webhook) Skipped() uint64 { return w.skip.Load() }

// Run sends lines until ctx ends.
func (w *Webhook) Run(ctx context.Context) {
	if w.ahead != nil {
		w.o.Failed(w.ahead)
	}
	from := NewFollower(w.log.o.Dir, w.sent.Load()+1)
	defer from.Close() //nolint:errcheck // it was only read
	for ctx.Err() == nil {
		last, more := w.log.onDisk()
		body, first, through := w.collect(from, last)
		if body == nil {
			var again <-chan time.Time
			if w.sent.Load() < last {
				again = time.After(webhookLook)
			}
			select {
			case <-more:
			case <-again:
			case <-ctx.Done():
			}
			continue
		}
		if !w.deliver(ctx, body, first, through) {
			return
		}
		w.skip.Add(first - w.sent.Load() - 1)
		w.sent.Store(through)
		if err := w.save(through); err != nil {
			w.o.Failed(fmt.Errorf("write %s: %w", w.cursor(), err))
		}
	}
}

// collect returns the next lines, up to the line last; nil if there are none. It skips lines that it
// cannot read.
func (w *Webhook) collect(from *Follower, last uint64) (body []byte, first, through uint64) {
	if err := from.refresh(); err != nil {
		w.o.Failed(fmt.Errorf("read the audit log: %w", err))
		return nil, 0, 0
	}
	var all bytes.Buffer
	for lines := 0; lines < webhookLinesMax && all.Len() < webhookBytesMax && from.next <= last; lines++ {
		line, err := from.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			w.o.Failed(fmt.Errorf("read the audit log: %w", err))
			continue
		}
		if first == 0 {
			first = line.Seq
		}
		through = line.Seq
		all.Write(line.Raw)
		all.WriteByte('\n')
	}
	if first == 0 {
		return nil, 0, 0
	}
	return all.Bytes(), first, through
}

// deliver sends lines until they are acknowledged. It returns false if ctx ends first.
func (w *Webhook) deliver(ctx context.Context, body []byte, first, through uint64) bool {
	attempts := retry.New(webhookFirst, webhookMost)
	for {
		err := w.post(ctx, body, first, through)
		if err == nil {
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		w.o.Failed(err)
		if !attempts.Wait(ctx) {
			return false
		}
	}
}

func (w *Webhook) post(ctx context.Context, body []byte, first, through uint64) error {
	ctx, cancel := context.WithTimeout(ctx, webhookTimeout)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, w.o.URL, bytes.NewReader(body))
	if err != nil {
		return hooksign.Cause(err)
	}
	request.Header.Set("Content-Type", "application/x-ndjson")
	request.Header.Set("Dormouse-Node", w.log.o.Node)
	request.Header.Set("Dormouse-Audit-Lines", fmt.Sprintf("%d-%d", first, through))
	if w.o.Secret != nil {
		request.Header.Set(hooksign.Header, hooksign.Sign(w.o.Secret, time.Now(), body))
	}
	client := http.Client{
		Transport:     w.o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return fmt.Errorf("post to %s: %w", hooksign.Place(w.o.URL), hooksign.Cause(err))
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, webhookBytesMax)) // so that the connection is used again
	_ = response.Body.Close()
	if response.StatusCode/100 != 2 {
		return fmt.Errorf("the webhook answered %s", response.Status)
	}
	return nil
}

// save stores the seq of the last line that was acknowledged.
func (w *Webhook) save(seq uint64) error {
	return renameio.WriteFile(w.cursor(), []byte(strconv.FormatUint(seq, 10)+"\n"), 0o600)
}
