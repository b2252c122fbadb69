package node

import (
	"bytes"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
	"dormouse/config"
	"dormouse/server/rest"
)

// A client without a token can fail as many TLS handshakes as it wants. The log says so in its format, and not each time.
func TestAFloodOfFailedHandshakesIsLoggedInPart(t *testing.T) {
	var out bytes.Buffer // the logger locks it
	c := config.Default()
	c.Log.Format = "json"
	f := &certFiles{cert: t.TempDir() + "/cert.pem", key: t.TempDir() + "/key.pem"}
	writePair(t, f, 1, time.Now())
	handler, err := rest.New(struct{ agent.Service }{}, struct{ layout.Operator }{}, rest.Options{Logger: newLogger(c, &out).Named("http")})
	if err != nil {
		t.Fatal(err)
	}
	pair, err := tls.LoadX509KeyPair(f.cert, f.key)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := rest.Server(handler)
	served := make(chan error, 1)
	go func() {
		served <- server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{pair}}))
	}()
	for range 1000 {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, conn) // until the server has closed it
		_ = conn.Close()
	}
	if err := server.Shutdown(t.Context()); err != nil { // returns once each connection was logged
		t.Fatal(err)
	}
	if err := <-served; !errors.Is(err, http.ErrServerClosed) {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) > repeatsMax {
		t.Errorf("%d lines", len(lines))
	}
	for _, line := range lines {
		if !strings.Contains(line, `"@level":"warn"`) || !strings.Contains(line, "TLS handshake error from 127.0.0.1:") {
			t.Errorf("%q", line)
		}
	}
}
