package rest_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"dormouse/agent"
	"dormouse/internal/budget"
	"dormouse/server/rest"
)

// pipes is a listener in memory, so that deadlines use virtual time.
type pipes struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-p.conns:
		return c, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.UnixAddr{Name: "pipes"} }

// serve runs the kit's API in a server, within a bubble. It returns a function that dials it.
func (k *kit) serve() func() net.Conn {
	k.Helper()
	listener := &pipes{conns: make(chan net.Conn), closed: make(chan struct{})}
	server := rest.Server(k.handler)
	ended := make(chan error)
	k.server = server
	go func() { ended <- server.Serve(listener) }()
	k.Cleanup(func() {
		if err := server.Close(); err != nil {
			k.Error(err)
		}
		if err := <-ended; !errors.Is(err, http.ErrServerClosed) {
			k.Error(err)
		}
	})
	return func() net.Conn {
		near, far := net.Pipe()
		listener.conns <- far
		k.Cleanup(func() { _ = near.Close() })
		return near
	}
}

// exchange sends a request, with a line feed at the end of each line, and reads the answer.
func exchange(t *testing.T, conn net.Conn, in *bufio.Reader, request string) (status int, body string) {
	t.Helper()
	return exchangeRaw(t, conn, in, strings.ReplaceAll(request, "\n", "\r\n"))
}

// exchangeRaw sends a request as it is and reads the answer.
func exchangeRaw(t *testing.T, conn net.Conn, in *bufio.Reader, request string) (status int, body string) {
	t.Helper()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatalf("send %q: %v", request, err)
	}
	method, _, _ := strings.Cut(request, " ")
	response, err := http.ReadResponse(in, &http.Request{Method: method})
	if err != nil {
		t.Fatalf("the answer to %q: %v", request, err)
	}
	defer response.Body.Close() //nolint:errcheck // it is only read
	all, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(all)
}

// takesLong is a commit that takes longer than any deadline of its connection.
func takesLong(ctx context.Context) error {
	select {
	case <-time.After(3 * time.Minute):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// The read deadline of a body must be cleared: during the call, net/http would take it for a
// disconnect. A content coding is still decoded after its last byte has arrived.
func TestALongCallOutlivesTheDeadlineOfItsBody(t *testing.T) {
	long := `{"state":{"a":"` + strings.Repeat("x", 64<<10) + `"}}`
	for name, c := range map[string]struct{ body, coding string }{
		"small": {`{"state":{}}`, ""}, "plain": {long, ""}, "gzip": {zipped(t, long), "gzip"}, "zstd": {zstded(t, long), "zstd"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				k := newKit(t)
				k.fake.onCommit = takesLong
				conn := k.serve()()
				coding := ""
				if c.coding != "" {
					coding = "Content-Encoding: " + c.coding + "\r\n"
				}
				head := fmt.Sprintf("PUT /v1/checkpoints/a HTTP/1.1\r\nHost: x\r\nDormouse-Timeout-Ms: 240000\r\nContent-Type: application/json\r\n"+
					"%sContent-Length: %d\r\n\r\n", coding, len(c.body))
				if status, body := exchangeRaw(t, conn, bufio.NewReader(conn), head+c.body); status != 201 {
					t.Errorf("%d %s", status, body)
				}
			})
		})
	}
}

// The timeout of a call begins once its body has arrived: a slow upload leaves the call its time.
func TestASlowBodyLeavesTheCallItsTime(t *testing.T) {
	for path, kind := range map[string]string{"/v1/values/a": "application/octet-stream", "/v1/checkpoints/a": "application/json"} {
		synctest.Test(t, func(t *testing.T) {
			k := newKit(t)
			var left time.Duration
			k.fake.onCommit = func(ctx context.Context) error {
				deadline, _ := ctx.Deadline()
				left = time.Until(deadline)
				return agent.Errorf(agent.CodeConflict, "seen")
			}
			conn := k.serve()()
			body := `{"state":{"a":"` + strings.Repeat("x", 2<<20) + `"}}`
			if _, err := fmt.Fprintf(conn, "PUT %s HTTP/1.1\r\nHost: x\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n", path, kind, len(body)); err != nil {
				t.Fatal(err)
			}
			rest := body
			for ; len(rest) > 128<<10; rest = rest[128<<10:] {
				if _, err := io.WriteString(conn, rest[:128<<10]); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Second)
			}
			if status, answer := exchangeRaw(t, conn, bufio.NewReader(conn), rest); status != 409 || left != 10*time.Second {
				t.Errorf("%s: %d %s, with %v left for the commit", path, status, answer, left)
			}
		})
	}
}

// TestARefusalWaitsForItsBody sends bodies that no call reads whole, and then reads the answer, on one connection: the
// server must read the bodies.
func TestARefusalWaitsForItsBody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		conn := k.serve()()
		in := bufio.NewReader(conn)
		large := strings.Repeat("x", 8<<20)
		for _, c := range []struct {
			request string
			status  int
		}{
			{"PUT /v1/nothing HTTP/1.1\nHost: x\nContent-Type: text/plain\n", 404},
			{"PUT /v1/values/a HTTP/1.1\nHost: x\nContent-Type: text/plain\n", 413},
			{"PUT /v1/checkpoints/a HTTP/1.1\nHost: x\nContent-Type: text/plain\n", 415},
		} {
			if status, body := exchange(t, conn, in, fmt.Sprintf("%sContent-Length: %d\n\n%s", c.request, len(large), large)); status != c.status {
				t.Errorf("%s: %d %s", c.request, status, body)
			}
		}
		asked := "PUT /v1/nothing HTTP/1.1\nHost: x\nContent-Type: text/plain\nExpect: 100-continue\nContent-Length: 9000000\n\n"
		if status, body := exchange(t, conn, in, asked); status != 404 { // the client has sent no body
			t.Errorf("%d %s", status, body)
		}
	})
}

// The write deadline of an answer must be cleared: it would end the next answer on the same
// connection.
func TestAConnectionThatRestedIsStillAnswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		conn := k.serve()()
		in := bufio.NewReader(conn)
		for range 3 {
			if status, body := exchange(t, conn, in, "DELETE /v1/checkpoints/a HTTP/1.1\nHost: x\n\n"); status != 204 {
				t.Fatalf("%d %s", status, body)
			}
			time.Sleep(100 * time.Second)
		}
	})
}

func TestABodyThatNeverComesIsNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		dial := newKit(t).serve()
		for _, c := range []struct {
			call, length, sent string
			want               int
		}{
			{"PUT /v1/checkpoints/a", "100", `{"state":`, 400},
			{"PUT /v1/checkpoints/a", "4194304", "", 400}, // with the time for 4 MiB, it would wait for 60 s
			{"DELETE /v1/threads/a", "4194304", "", 400},
			{"PUT /nowhere", "100", `{"state":`, 404},
		} {
			conn := dial()
			began := time.Now()
			status, body := exchange(t, conn, bufio.NewReader(conn), c.call+" HTTP/1.1\nHost: x\nContent-Type: application/json\nContent-Length: "+c.length+"\n\n"+c.sent)
			if took := time.Since(began); status != c.want || took < 10*time.Second || took > 11*time.Second {
				t.Errorf("%s with %s bytes: after %v: %d %s", c.call, c.length, took, status, body)
			}
		}
	})
}

func TestHeadersThatNeverEndAreNotWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		conn := newKit(t).serve()()
		began := time.Now()
		if _, err := io.WriteString(conn, "GET /livez HTTP/1.1\r\n"); err != nil {
			t.Fatal(err)
		}
		_, err := io.ReadAll(conn)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("it ended after %v: %v", took, err)
		}
	})
}

func TestACallEndsWhenItsCallerLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		left := make(chan error, 1)
		k.fake.onCommit = func(ctx context.Context) error {
			<-ctx.Done()
			left <- ctx.Err()
			return ctx.Err()
		}
		conn := k.serve()()
		if _, err := io.WriteString(conn, "DELETE /v1/checkpoints/a HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		if err := conn.Close(); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		if err := <-left; !errors.Is(err, context.Canceled) || time.Since(began) != 0 {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

func TestAShutdownEndsWatchesAndWaitsForCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKit(t)
		k.call("POST", "/v1/threads/t/entries", `{}`).ok(201)
		dial := k.serve()
		k.fake.onCommit = func(context.Context) error { time.Sleep(3 * time.Second); return nil }
		watching, calling := dial(), dial()
		ended := make(chan string, 1)
		go func() {
			if _, err := io.WriteString(watching, "GET /v1/threads/t/watch HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
				t.Error(err)
			}
			all, _ := io.ReadAll(watching) // only its end is checked
			ended <- string(all)
		}()
		answered := make(chan int, 1)
		go func() {
			status, _ := exchange(t, calling, bufio.NewReader(calling), "DELETE /v1/checkpoints/a HTTP/1.1\nHost: x\n\n")
			answered <- status
		}()
		synctest.Wait()
		began := time.Now()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := k.server.Shutdown(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 4*time.Second { // net/http polls for the calls' end
			t.Errorf("it took %v", took)
		}
		_ = watching.Close() // if it had not ended, it does now
		if status := <-answered; status != 204 {
			t.Errorf("the call is %d", status)
		}
		if text := <-ended; !strings.Contains(text, "the watch is open") {
			t.Errorf("the watch wrote %q", text)
		}
	})
}

func TestABodyOfUnknownLengthIsBoundedToo(t *testing.T) {
	k := newKit(t)
	for size, want := range map[int]int{4 << 20: 201, 4<<20 + 1: 413} {
		r := httptest.NewRequest("PUT", "/v1/values/v", io.LimitReader(endless{}, int64(size)))
		if r.ContentLength != -1 {
			t.Fatalf("the length is known: %d", r.ContentLength)
		}
		w := httptest.NewRecorder()
		k.handler.ServeHTTP(w, r)
		if answered := w.Code; answered != want && (want != 201 || answered != 200) {
			t.Errorf("%d bytes: %d %s", size, answered, w.Body)
		}
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = ' '
	}
	return len(b), nil
}

func TestBodiesInMemoryAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		bytes := budget.New(64 << 20)
		k := newKitWith(t, rest.Options{Bytes: bytes})
		resume := make(chan struct{})
		k.fake.onCommit = func(context.Context) error { <-resume; return nil }
		codes := make(chan int)
		put := func(from string, i int, size int64) {
			r := httptest.NewRequest("PUT", fmt.Sprintf("/v1/values/%s-%d", from, i), io.LimitReader(endless{}, size))
			r.RemoteAddr = from + ":1"
			w := httptest.NewRecorder()
			k.handler.ServeHTTP(w, r)
			codes <- w.Code
		}
		// The limit is 64 MiB, and 32 MiB for one address. A body of 4 MiB needs a byte more.
		const callers, fit = 40, 7
		for i := range callers {
			if i == fit {
				synctest.Wait()
			}
			go put("10.0.0.1", i, 4<<20)
		}
		synctest.Wait()
		count := map[int]int{}
		for range callers - fit {
			count[<-codes]++
		}
		go put("10.0.0.2", 0, 4<<20)
		synctest.Wait()
		close(resume)
		for range fit + 1 {
			count[<-codes]++
		}
		if count[201] != fit+1 || count[429] != callers-fit {
			t.Errorf("answers by status: %v", count)
		}
		if used := bytes.Used(); used != 0 {
			t.Errorf("%d bytes are still counted", used)
		}
	})
}

func TestAnEncodedBodyIsUnsupported(t *testing.T) {
	k := newKit(t)
	k.call("PUT", "/v1/checkpoints/a", "\x1f\x8b", "Content-Encoding: br").problem(415, "unsupported_media")
	k.call("PUT", "/v1/values/a", "\x1f\x8b", "Content-Encoding: br").problem(415, "unsupported_media")
	k.call("PUT", "/v1/values/a", "\x1f\x8b", "Content-Encoding: identity").ok(201)
}

func TestProbesAnswerWhileTheNodeIsFull(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := newKitWith(t, rest.Options{Calls: 1})
		resume, done := make(chan struct{}), make(chan int)
		k.fake.onRead = func(context.Context) error { <-resume; return nil }
		go func() { done <- k.call("GET", "/v1/threads", "").Code }()
		synctest.Wait()
		k.call("GET", "/v1/threads", "").problem(429, "overloaded")
		k.call("GET", "/livez", "").ok(200)
		k.call("GET", "/readyz", "").ok(200)
		close(resume)
		if status := <-done; status != 200 {
			t.Errorf("the call in hand is %d", status)
		}
	})
}
