package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"dormouse/config"
)

func TestProfilesAreServedWhileTheNodeRunsWhereAskedFor(t *testing.T) {
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := free.Addr().String()
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	s := newSystem()
	s.run = func(ctx context.Context, _ config.Config) error {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/debug/pprof/goroutine?debug=1", nil)
		if err != nil {
			return err
		}
		response, err := http.DefaultClient.Do(request)
		if err != nil {
			return err
		}
		defer response.Body.Close() //nolint:errcheck // it was read
		if body, err := io.ReadAll(response.Body); err != nil || !strings.Contains(string(body), "goroutine profile") {
			t.Errorf("the profile: %v, %.80s", err, body)
		}
		return nil
	}
	if code := s.main(t.Context(), []string{"--node-id", "n1", "--pprof-addr", addr}); code != exitOK {
		t.Errorf("exit code %d, want 0: %s", code, s.errs.String())
	}
	if conn, err := net.Dial("tcp", addr); err == nil {
		_ = conn.Close()
		t.Error("profiles are still served after the node has stopped")
	}
}

func TestProfilesAreForLoopbackAlone(t *testing.T) {
	for _, addr := range []string{"0.0.0.0:7609", ":7609", "10.0.0.1:7609", "nonsense"} {
		s := newSystem()
		if code := s.main(t.Context(), []string{"--node-id", "n1", "--pprof-addr", addr}); code != exitConfig {
			t.Errorf("%s: exit code %d, want %d", addr, code, exitConfig)
		}
		if s.ran != nil {
			t.Errorf("%s: the node ran", addr)
		}
	}
}
