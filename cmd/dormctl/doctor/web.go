package doctor

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/clip"
)

// Bounds of one question to one node.
const (
	askTimeout     = 5 * time.Second
	answerBytesMax = 64 << 20
)

// web asks nodes over HTTP, with the credentials of dormctl.
type web struct {
	client *http.Client
	tls    *tls.Config // nil means plain text
	token  string
	open   bool // the token may be sent in plain text to other machines
}

func newWeb(a *kit.App) (*web, error) {
	config, token, err := a.Credentials()
	if err != nil {
		return nil, err
	}
	return &web{client: &http.Client{Transport: &http.Transport{TLSClientConfig: config}}, tls: config, token: token, open: a.Insecure}, nil
}

// loopback reports whether an address is of this machine.
func loopback(addr string) bool {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// get returns the body of an answer of a node.
func (w *web) get(ctx context.Context, addr, path string) ([]byte, error) {
	return w.getFor(ctx, addr, path, askTimeout)
}

func (w *web) getFor(ctx context.Context, addr, path string, timeout time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	scheme := "http"
	if w.tls != nil {
		scheme = "https"
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, scheme+"://"+addr+path, nil)
	if err != nil {
		return nil, err
	}
	if w.token != "" && w.tls == nil && !w.open && !loopback(addr) {
		return nil, fmt.Errorf("the token would be sent to %s without encryption: use --ca, or allow it with --insecure", addr)
	}
	if w.token != "" {
		request.Header.Set("Authorization", "Bearer "+w.token)
	}
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
