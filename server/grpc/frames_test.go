package grpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"

	"dormouse/access"
	"dormouse/agent"
	"dormouse/api/convert"
	"dormouse/internal/framed"
	apipb "dormouse/proto/api"
	"dormouse/server/grpc"
)

// A stream of frames is authenticated as one of gRPC.
func TestFramesNeedAToken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tokens := tokenStore{}
		secret := tokens.add("ci", agent.Grant{Scopes: []string{"*"}, Verbs: []agent.Verb{agent.VerbWrite}})
		_, conn := serve(t, &fake{submit: atOnce}, grpc.Options{Auth: access.NewAuthenticator(access.Options{Store: tokens})})
		for name, md := range map[string]metadata.MD{
			"none": nil, "an unknown one": metadata.Pairs("authorization", "Bearer "+access.NewSecret()),
			"two": metadata.Pairs("authorization", "Bearer "+secret, "authorization", "Bearer "+secret),
		} {
			s := framesWith(t, conn, md)
			if _, err := s.Recv(); status.Code(err) != codes.Unauthenticated {
				t.Errorf("%s: %v", name, err)
			}
		}
		s := framesWith(t, conn, metadata.Pairs("authorization", "Bearer "+secret))
		send(t, s, commit(1, 0))
		replies(t, s, 1)
	})
}

func TestFramesForAnotherClusterAreRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{submit: atOnce}, grpc.Options{ClusterID: func() string { return "mine" }})
		s := framesWith(t, conn, metadata.Pairs(convert.ClusterHeader, "another"))
		if header, err := s.Header(); err != nil || header.Get(convert.ClusterHeader)[0] != "mine" {
			t.Errorf("%v, %v", header, err)
		}
		if _, err := s.Recv(); status.Code(err) != codes.Unavailable {
			t.Errorf("%v", err)
		}
	})
}

func TestFramesAreForExchangeOnly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{}, grpc.Options{})
		raw := rawConn(t, listenerOf(conn))
		s, err := framed.Open(t.Context(), raw, framed.ClientOptions{Method: apipb.Store_Watch_FullMethodName})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.RecvMsg(&apipb.Replies{}); status.Code(err) != codes.Unimplemented {
			t.Errorf("%v", err)
		}
	})
}

// A message that cannot be decoded is the caller's mistake.
func TestAMalformedFrameIsInvalid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, conn := serve(t, &fake{}, grpc.Options{})
		method := apipb.Store_Exchange_FullMethodName
		head := "\x01\x00\x00\x00" + string(rune(len(method)+2)) + "\x0a" + string(rune(len(method))) + method
		raw := rawConn(t, listenerOf(conn))
		if _, err := raw.Write([]byte(framed.Preface + head + "\x02\x00\x00\x00\x03\x0a\xff\xff")); err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(raw) // the stream ends
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{framed.Preface, "the message is malformed"} {
			if !strings.Contains(string(answer), want) {
				t.Errorf("%q lacks %q", answer, want)
			}
		}
	})
}

// A connection that does not go on after its first bytes is closed.
func TestAHeadThatDoesNotComeEndsTheConnection(t *testing.T) {
	for name, sent := range map[string]string{"nothing": "", "a part of the preface": framed.Preface[:3], "the preface": framed.Preface, "a part of the head": framed.Preface + "\x01\x00\x00\x00\x09"} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				_, conn := serve(t, &fake{}, grpc.Options{})
				raw := rawConn(t, listenerOf(conn))
				if _, err := raw.Write([]byte(sent)); err != nil {
					t.Fatal(err)
				}
				began := time.Now()
				if _, err := io.Copy(io.Discard, raw); err != nil && !errors.Is(err, io.ErrClosedPipe) {
					t.Fatal(err)
				}
				if took := time.Since(began); took > 15*time.Second {
					t.Errorf("it was open for %v", took)
				}
			})
		})
	}
}

func rawConn(t *testing.T, l *bufconn.Listener) net.Conn {
	t.Helper()
	raw, err := l.DialContext(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = raw.Close() })
	return raw
}
