package instance_test

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"dormouse/agent"
	"dormouse/instance"
)

// endpoint is an HTTP handler without a network.
type endpoint struct {
	serve func(r *http.Request, body []byte) (status int, answer string, err error)
	calls []*http.Request
}

// RoundTrip implements http.RoundTripper.
func (e *endpoint) RoundTrip(r *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return nil, err
	}
	e.calls = append(e.calls, r)
	status, answer, err := e.serve(r, body)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Location": {"http://evil.example/"}},
		Body: io.NopCloser(strings.NewReader(answer)), Request: r,
	}, nil
}

const hookURL = "https://agents.example:8443/handle?token=SECRET"

var secret = bytes.Repeat([]byte("k"), 32)

// withEndpoint runs a test with an endpoint as the handler of manager m.
func withEndpoint(t *testing.T, test func(k *kit, e *endpoint)) {
	t.Helper()
	e := &endpoint{}
	sim(t, func(o *instance.Options) {
		o.Webhooks = instance.Webhooks{
			Allow: []string{"agents.example:8443"}, Transport: e,
			Keys: []instance.WebhookKey{
				{Name: "main", Host: "agents.example:8443", Scope: "*", Secret: secret},
				{Name: "theirs", Host: "agents.example:8443", Scope: "another-*", Secret: secret},
				{Name: "elsewhere", Host: "other.example", Scope: "*", Secret: secret},
			},
		}
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerHTTP, URL: hookURL, Key: "main"}, SignalTTL: 10 * time.Second})
		test(k, e)
	})
}

func TestAnHTTPHandlerHandlesSignals(t *testing.T) {
	withEndpoint(t, func(k *kit, e *endpoint) {
		e.serve = func(r *http.Request, body []byte) (int, string, error) {
			header := r.Header.Get("Dormouse-Signature")
			at, mac, _ := strings.Cut(strings.TrimPrefix(header, "t="), ",v1=")
			want := hmac.New(sha256.New, secret)
			want.Write([]byte(at + "."))
			want.Write(body)
			if mac != hex.EncodeToString(want.Sum(nil)) {
				k.Errorf("signature %q", header)
			}
			var in struct {
				Type     string
				Key      string
				Data     struct{ N int }
				State    struct{ Sum int }
				Rev      uint64
				Revision uint64
			}
			if err := json.Unmarshal(body, &in); err != nil {
				k.Error(err)
			}
			if in.Type != "add" || in.Key != "a" {
				k.Errorf("%s", body)
			}
			out, err := json.Marshal(map[string]any{
				"patch": map[string]int{"sum": in.State.Sum + in.Data.N}, "entries": map[string]string{"kind": "added"},
				"reply": map[string]int{"sum": in.State.Sum + in.Data.N},
			})
			return http.StatusOK, string(out), err
		}
		k.send(k.host, "a", signal("add", `{"n":2}`))
		s := requested(signal("add", `{"n":3}`), "c", 1)
		reply := k.send(k.host, "a", s)
		if string(reply.Data) != `{"sum":5}` || reply.Rev != 4 || reply.Revision != 2 {
			k.Errorf("%+v %s", reply, reply.Data)
		}
		if id := e.calls[1].Header.Get("Dormouse-Signal"); id != "c/1" {
			k.Errorf("signal id %q", id)
		}
		if again := k.send(k.host, "a", s); string(again.Data) != `{"sum":5}` || len(e.calls) != 2 {
			k.Errorf("%s after %d calls", again.Data, len(e.calls))
		}
		if got := k.entries("a"); !slices.Equal(got, []string{"added", "instruction_start", "added", "instruction_end"}) {
			k.Errorf("%v", got)
		}
		e.serve = func(*http.Request, []byte) (int, string, error) { return http.StatusNoContent, "", nil }
		if reply := k.send(k.host, "a", signal("add", ``)); reply.Data != nil || reply.Rev != 6 {
			k.Errorf("%+v", reply)
		}
	})
}

// A turn runs again if another client wrote to the instance meanwhile. The endpoint then sees the same
// signal again, and can tell.
func TestASignalThatIsHandledAgainHasTheSameID(t *testing.T) {
	withEndpoint(t, func(k *kit, e *endpoint) {
		e.serve = func(*http.Request, []byte) (int, string, error) {
			if len(e.calls) == 2 {
				k.write(&agent.PatchCheckpoint{Key: ref("a").Checkpoint(), Patch: agent.JSON(`{"other":1}`)})
			}
			return http.StatusOK, `{"patch":{"sum":1}}`, nil
		}
		k.send(k.host, "a", signal("add", ``)) // creates the instance
		k.send(k.host, "a", signal("add", ``))
		if len(e.calls) != 3 {
			k.Fatalf("%d calls", len(e.calls))
		}
		ids := map[string]int{}
		for _, call := range e.calls {
			ids[call.Header.Get("Dormouse-Signal")]++
		}
		if len(ids) != 2 || ids[e.calls[1].Header.Get("Dormouse-Signal")] != 2 {
			k.Errorf("the signals' ids: %v", ids)
		}
	})
}

func TestAnHTTPHandlerThatFails(t *testing.T) {
	for name, c := range map[string]struct {
		reason string
		calls  int
		serve  func(r *http.Request, body []byte) (int, string, error)
	}{
		"down":      {"unreachable", 3, func(*http.Request, []byte) (int, string, error) { return 0, "", errors.New("connection refused") }},
		"failing":   {"status", 3, func(*http.Request, []byte) (int, string, error) { return http.StatusInternalServerError, "", nil }},
		"refusing":  {"status", 1, func(*http.Request, []byte) (int, string, error) { return http.StatusBadRequest, "", nil }},
		"elsewhere": {"status", 1, func(*http.Request, []byte) (int, string, error) { return http.StatusFound, "", nil }},
		"oversized": {"too_large", 1, func(*http.Request, []byte) (int, string, error) {
			return http.StatusOK, strings.Repeat(" ", 9<<20), nil
		}},
		"no JSON":               {"invalid_change", 1, func(*http.Request, []byte) (int, string, error) { return http.StatusOK, `<html>`, nil }},
		"a member nobody knows": {"invalid_change", 1, func(*http.Request, []byte) (int, string, error) { return http.StatusOK, `{"stat":{}}`, nil }},
		"a state that is none":  {"invalid_change", 1, func(*http.Request, []byte) (int, string, error) { return http.StatusOK, `{"state":[]}`, nil }},
		"an entry that is none": {"invalid_change", 1, func(*http.Request, []byte) (int, string, error) {
			return http.StatusOK, `{"state":{"n":2},"entries":{"payload":7}}`, nil
		}},
		"slow": {"timeout", 1, func(r *http.Request, _ []byte) (int, string, error) {
			<-r.Context().Done()
			return 0, "", r.Context().Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			withEndpoint(t, func(k *kit, e *endpoint) {
				k.start("a", `{"n":1}`)
				e.serve = c.serve
				began := time.Now()
				_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
				if got := k.refusal(err, agent.CodeHandlerFailed); got.Reason != c.reason || len(e.calls) != c.calls || strings.Contains(err.Error(), "SECRET") {
					k.Errorf("%+v after %d calls", got, len(e.calls))
				}
				if took := time.Since(began); took > 11*time.Second {
					k.Errorf("it took %v", took)
				}
				if c := k.checkpoint("a"); c.Revision != 1 || len(k.entries("a")) != 0 {
					k.Errorf("it left %+v", c)
				}
				e.serve = func(*http.Request, []byte) (int, string, error) { return http.StatusOK, `{"state":{"n":2}}`, nil }
				k.send(k.host, "a", signal("x", "")) // the instance stays awake
			})
		})
	}
}

func TestAnHTTPHandlerAnswersWithAStateOrAPatch(t *testing.T) {
	withEndpoint(t, func(k *kit, e *endpoint) {
		k.start("a", `{"n":1}`)
		answer := `{"state":{"n":2},"patch":{"m":3}}`
		e.serve = func(*http.Request, []byte) (int, string, error) { return http.StatusOK, answer, nil }
		_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
		got := k.refusal(err, agent.CodeHandlerFailed)
		if got.Reason != "invalid_change" || !strings.Contains(got.Detail, `both "state" and "patch"`) || len(e.calls) != 1 {
			k.Errorf("%+v after %d calls", got, len(e.calls))
		}
		if c := k.checkpoint("a"); c.Revision != 1 || string(c.State) != `{"n":1}` {
			k.Errorf("it left %+v", c)
		}
		answer = `{"state":{"n":2},"patch":null}` // null counts as absent
		k.send(k.host, "a", signal("x", ""))
		if c := k.checkpoint("a"); string(c.State) != `{"n":2}` {
			k.Errorf("state %s", c.State)
		}
	})
}

func TestAnHTTPHandlerMustBeAllowed(t *testing.T) {
	withEndpoint(t, func(k *kit, e *endpoint) {
		for _, c := range []struct{ url, key, reason string }{
			{"https://agents.example/handle", "main", "not_allowed"}, // another port
			{hookURL, "other", "no_key"},
			{hookURL, "theirs", "no_key"},    // bound to other scopes
			{hookURL, "elsewhere", "no_key"}, // bound to another host
		} {
			k.put(agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerHTTP, URL: c.url, Key: c.key}})
			_, err := k.host.Signal(k.Context(), ref("a"), signal("x", ""))
			if got := k.refusal(err, agent.CodeHandlerFailed); got.Reason != c.reason {
				k.Errorf("key %s: %+v", c.key, got)
			}
		}
		if len(e.calls) != 0 {
			k.Errorf("%d calls", len(e.calls))
		}
	})
}

// A request carries the trace context of its turn, which is below the caller's span.
func TestAnHTTPHandlerGetsTheTraceContext(t *testing.T) {
	spans := tracetest.NewInMemoryExporter()
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	e := &endpoint{serve: func(*http.Request, []byte) (int, string, error) { return http.StatusNoContent, "", nil }}
	sim(t, func(o *instance.Options) {
		o.Webhooks = instance.Webhooks{Allow: []string{"agents.example:8443"}, Transport: e}
		o.Tracer = provider.Tracer("test")
	}, func(k *kit) {
		k.put(agent.Manager{Name: "m", Handler: agent.Handler{Kind: agent.HandlerHTTP, URL: hookURL}})
		ctx, root := provider.Tracer("test").Start(k.Context(), "program")
		if _, err := k.host.Signal(ctx, agent.InstanceRef{Scope: agent.DefaultScope, Manager: "m", Key: "a"}, agent.Signal{Type: "go"}); err != nil {
			k.Fatal(err)
		}
		root.End()
		if len(e.calls) != 1 {
			k.Fatalf("%d requests", len(e.calls))
		}
		for _, span := range spans.GetSpans() {
			if span.Name != "turn" {
				continue
			}
			if span.Parent.SpanID() != root.SpanContext().SpanID() {
				k.Error("the turn's span is not below the caller's")
			}
			want := "00-" + span.SpanContext.TraceID().String() + "-" + span.SpanContext.SpanID().String() + "-01"
			if got := e.calls[0].Header.Get("Traceparent"); got != want {
				k.Errorf("traceparent %q, want %q", got, want)
			}
			return
		}
		k.Error("the turn has no span")
	})
}
