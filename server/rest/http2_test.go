package rest_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// http2 returns a client that makes its calls on connections of HTTP/2 without TLS.
func (k *kit) http2() (client *http.Client, dials func() int) {
	k.Helper()
	dial, n := k.serve(), 0
	transport := &http.Transport{
		Protocols:   &http.Protocols{},
		DialContext: func(context.Context, string, string) (net.Conn, error) { n++; return dial(), nil },
	}
	transport.Protocols.SetUnencryptedHTTP2(true)
	k.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}, func() int { return n }
}

// send makes a call and returns the status of its answer, which it reads to the end.
func send(t *testing.T, client *http.Client, method, path string, body io.Reader, header ...string) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, "http://x"+path, body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	response, err := client.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	if _, err := io.Copy(io.Discard, response.Body); err != nil || response.ProtoMajor != 2 {
		t.Errorf("%s %s: %s, %v", method, path, response.Proto, err)
	}
	return response.StatusCode
}

func TestCallsShareAConnectionOfHTTP2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		both := make(chan struct{})
		k.fake.onCommit = func(ctx context.Context) error {
			select {
			case both <- struct{}{}: // the one waits for the other
			case <-both:
			case <-ctx.Done():
			}
			return ctx.Err()
		}
		client, dials := k.http2()
		if status := send(t, client, "GET", "/livez", nil); status != 200 {
			t.Fatal(status)
		}
		synctest.Wait() // net/http pools a connection after it has given it to the first call
		ended := make(chan int)
		for range 2 {
			go func() { ended <- send(t, client, "DELETE", "/v1/checkpoints/a", nil) }()
		}
		if a, b := <-ended, <-ended; a != 204 || b != 204 || dials() != 1 {
			t.Errorf("%d and %d on %d connections", a, b, dials())
		}
	})
}

// The deadlines are those of one call: neither a slow body nor a long call ends another on its
// connection.
func TestDeadlinesOfHTTP2AreThoseOfOneCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.fake.onCommit = takesLong
		client, dials := k.http2()
		long := make(chan int)
		go func() {
			long <- send(t, client, "PUT", "/v1/checkpoints/a", strings.NewReader(`{"state":{}}`), "Dormouse-Timeout-Ms", "240000")
		}()
		synctest.Wait()
		never, unending := io.Pipe()
		defer unending.Close() //nolint:errcheck // it is always nil
		began := time.Now()
		status := send(t, client, "PUT", "/v1/checkpoints/b", never)
		if took := time.Since(began); status != 400 || took < 10*time.Second || took > 11*time.Second {
			t.Errorf("a body that never comes: %d after %v", status, took)
		}
		if status := <-long; status != 201 || dials() != 1 {
			t.Errorf("the long call: %d, on %d connections", status, dials())
		}
	})
}

func TestACallOfHTTP2EndsWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		left := make(chan error, 1)
		k.fake.onCommit = func(ctx context.Context) error {
			<-ctx.Done()
			left <- ctx.Err()
			return ctx.Err()
		}
		client, _ := k.http2()
		ctx, cancel := context.WithCancel(t.Context())
		request, err := http.NewRequestWithContext(ctx, "DELETE", "http://x/v1/checkpoints/a", nil)
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			synctest.Wait()
			cancel()
		}()
		if _, err := client.Do(request); !errors.Is(err, context.Canceled) { //nolint:bodyclose // there is none
			t.Error(err)
		}
		if err := <-left; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}
