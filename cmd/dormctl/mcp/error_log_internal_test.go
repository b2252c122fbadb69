package mcp

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A client that fails TLS handshakes must not fill standard error.
func TestAFloodOfErrorsOfTheServerIsToldInPart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		told := 0
		l := errorLog(func(_ string, args ...any) {
			if told++; !strings.HasPrefix(args[0].(string), "http: TLS handshake error from 10.0.0.9:") {
				t.Errorf("%q", args)
			}
		})
		for i := range 1000 {
			l.Printf("http: TLS handshake error from 10.0.0.9:%d: EOF", i)
		}
		if told != errorsBurst {
			t.Errorf("%d lines at once, want %d", told, errorsBurst)
		}
		time.Sleep(errorsEvery)
		if l.Print("http: TLS handshake error from 10.0.0.9:1: EOF"); told != errorsBurst+1 {
			t.Error("no line after a while")
		}
	})
}
