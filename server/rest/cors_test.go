package rest_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"dormouse/server/rest"
)

const page = "https://app.example.com"

var fromPage = []string{"Origin: " + page, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"}

func TestNoPageMayCallByDefault(t *testing.T) {
	k := newKit(t)
	k.call("GET", "/v1/threads", "", fromPage...).problem(403, "forbidden")
	got := k.call("OPTIONS", "/v1/threads", "", append(fromPage, "Access-Control-Request-Method: GET")...)
	got.problem(403, "forbidden")
	if got.Header().Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("the preflight allows %v", got.Header())
	}
}

func TestAPageOfAnAllowedOriginMayCall(t *testing.T) {
	k := newKitWith(t, rest.Options{Origins: []string{page}})
	got := k.call("PUT", "/v1/checkpoints/k", `{"state":{}}`, fromPage...)
	got.ok(201)
	if h := got.Header(); h.Get("Access-Control-Allow-Origin") != page || h.Get("Vary") != "Origin" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("the answer has %v", h)
	}
	for _, name := range []string{"Dormouse-Index", "ETag", "Location"} {
		if !strings.Contains(got.Header().Get("Access-Control-Expose-Headers"), name) {
			t.Errorf("the page cannot read %s", name)
		}
	}
	// A refusal needs the headers too: without them, the page does not see its code.
	missing := k.call("GET", "/v1/checkpoints/none", "", fromPage...)
	missing.problem(404, "not_found")
	if missing.Header().Get("Access-Control-Allow-Origin") != page {
		t.Errorf("a refusal has %v", missing.Header())
	}
}

func TestAPreflightNamesWhatThePageMaySend(t *testing.T) {
	k := newKitWith(t, rest.Options{Origins: []string{page}})
	got := k.call("OPTIONS", "/v1/checkpoints/k", "", append(fromPage, "Access-Control-Request-Method: PUT", "Access-Control-Request-Headers: idempotency-key")...)
	got.ok(204)
	if methods := got.Header().Get("Access-Control-Allow-Methods"); !strings.Contains(methods, "PATCH") {
		t.Errorf("it allows the methods %s", methods)
	}
	for _, name := range []string{"Authorization", "Idempotency-Key", "Dormouse-Fence", "Dormouse-Scope", "Last-Event-ID", "Content-Encoding"} {
		if !strings.Contains(got.Header().Get("Access-Control-Allow-Headers"), name) {
			t.Errorf("it does not allow the header %s", name)
		}
	}
}

func TestOtherPagesMayNotCall(t *testing.T) {
	k := newKitWith(t, rest.Options{Origins: []string{page}})
	for _, origin := range []string{"https://evil.example", "http://app.example.com", page + ".evil.example", page + ":8443", "null", "*"} {
		got := k.call("PUT", "/v1/checkpoints/k", `{"state":{}}`, "Origin: "+origin, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors")
		got.problem(403, "forbidden")
		if got.Header().Get("Access-Control-Allow-Origin") != "" || got.Header().Get("Vary") != "Origin" {
			t.Errorf("%s: %v", origin, got.Header())
		}
	}
}

func TestPagesOfTheOtherNodesMayCall(t *testing.T) {
	peers := []string{"http://10.0.0.2:7600"}
	k := newKitWith(t, rest.Options{Peers: func() []string { return peers }})
	from := func(origin string) []string {
		return []string{"Origin: " + origin, "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: cors"}
	}
	got := k.call("PUT", "/v1/checkpoints/k", `{"state":{}}`, from(peers[0])...)
	got.ok(201)
	if h := got.Header(); h.Get("Access-Control-Allow-Origin") != peers[0] || h.Get("Vary") != "Origin" {
		t.Errorf("the answer has %v", h)
	}
	for _, other := range []string{"http://10.0.0.3:7600", "https://10.0.0.2:7600", "http://10.0.0.2", "null"} {
		k.call("PUT", "/v1/checkpoints/k", `{"state":{}}`, from(other)...).problem(403, "forbidden")
	}
	peers = nil // the member has left
	k.call("PUT", "/v1/checkpoints/k", `{"state":{}}`, from("http://10.0.0.2:7600")...).problem(403, "forbidden")
}

func TestTheConsoleIsServedBesideTheAPI(t *testing.T) {
	console := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "page "+r.URL.Path) })
	k := newKitWith(t, rest.Options{Console: console})
	for _, path := range []string{"/", "/ui", "/ui/agents"} {
		if got := k.call("GET", path, ""); got.Code != 200 || got.Body.String() != "page "+path {
			t.Errorf("%s answers %d %s", path, got.Code, got.Body)
		}
	}
	k.call("GET", "/uix", "").problem(404, "not_found")
	k.call("GET", "/v1/threads", "").ok(200)
	k.call("GET", "/ui/agents", "", fromPage...).problem(403, "forbidden")
	for _, path := range []string{"/", "/ui", "/ui/agents"} {
		newKit(t).call("GET", path, "").problem(404, "not_found")
	}
}
