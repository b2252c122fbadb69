package kit

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"

	"dormouse/internal/clip"
	"dormouse/internal/hostcheck"
)

// AskTimeout bounds one question to one node.
const AskTimeout = 5 * time.Second

// answerBytesMax is the maximum size of an answer over HTTP.
const answerBytesMax = 64 << 20

// Web asks nodes over HTTP, with the credentials of dormctl. Its methods may be called concurrently.
type Web struct {
	TLS *tls.Config // nil means plain text

	client *http.Client
	token  string
	open   bool // the token may be sent in plain text to other machines
}

// NewWeb returns a client of the nodes' HTTP addresses, with the TLS files and the token of the
// global flags.
func NewWeb(a *App) (*Web, error) {
	config, token, err := a.Credentials()
	if err != nil {
		return nil, err
	}
	return &Web{client: &http.Client{Transport: &http.Transport{TLSClientConfig: config}}, TLS: config, token: token, open: a.Insecure}, nil
}

// Close closes the connections that are not in use.
func (w *Web) Close() { w.client.CloseIdleConnections() }

// Get returns the body of the answer of the node at an address, within AskTimeout. An answer other
// than 200 is an error.
func (w *Web) Get(ctx context.Context, addr, path string) ([]byte, error) {
	return w.GetFor(ctx, addr, path, AskTimeout)
}

// GetFor is Get with another timeout, which the node also gets. It must be at most ten minutes.
func (w *Web) GetFor(ctx context.Context, addr, path string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	scheme := "http"
	if w.TLS != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	if w.token != "" && w.TLS == nil && !w.open && !hostcheck.Loopback(addr) {
		return nil, fmt.Errorf("the token would be sent to %s without encryption: use --ca, or allow it with --insecure", addr)
	}
	if w.token != "" {
		request.Header.Set("Authorization", "Bearer "+w.token)
	}
	request.Header.Set("Dormouse-Timeout-Ms", strconv.FormatInt(timeout.Milliseconds(), 10)) // otherwise the node takes 10 s
	answer, err := w.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer answer.Body.Close() //nolint:errcheck // it was only read
	body, err := io.ReadAll(http.MaxBytesReader(nil, answer.Body, answerBytesMax))
	if err != nil {
		return nil, err
	}
	if answer.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("%s answered %s: %s", path, answer.Status, clip.Text(string(body), 300))
	}
	return body, nil
}
