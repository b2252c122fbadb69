package rest_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/zstd"

	"dormouse/server/rest"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := io.WriteString(z, text); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func unzipped(t *testing.T, body io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

func zstded(t *testing.T, text string) string {
	t.Helper()
	e, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return string(e.EncodeAll([]byte(text), nil))
}

func unzstd(t *testing.T, body io.Reader) string {
	t.Helper()
	d, err := zstd.NewReader(body)
	if err != nil {
		t.Fatal(err)
	}
	defer d.Close()
	raw, err := io.ReadAll(d)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// A body whose window is larger than the server holds is refused.
func TestAWindowIsBounded(t *testing.T) {
	k := newKitWith(t, rest.Options{})
	var sent bytes.Buffer
	e, err := zstd.NewWriter(&sent, zstd.WithWindowSize(16<<20))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // a frame of unknown size announces its window
		if _, err := e.Write([]byte(strings.Repeat("x", 100))); err != nil || e.Flush() != nil {
			t.Fatal(err)
		}
	}
	if err := e.Close(); err != nil {
		t.Fatal(err)
	}
	k.call("PUT", "/v1/values/k", sent.String(), "Content-Encoding: zstd", "Content-Type: text/plain").problem(400, "invalid")
}

func TestALargeAnswerIsCompressedForThoseWhoAcceptIt(t *testing.T) {
	k := newKitWith(t, rest.Options{Compress: true})
	k.call("PUT", "/v1/checkpoints/k", `{"state":{"text":"`+strings.Repeat("long ", 1000)+`"}}`).ok(201)
	k.call("PUT", "/v1/checkpoints/small", `{"state":{}}`).ok(201)
	plain := k.call("GET", "/v1/checkpoints/k", "")
	plain.ok(200)
	if h := plain.Header(); h.Get("Content-Encoding") != "" || h.Get("Vary") != "Accept-Encoding" {
		t.Errorf("without Accept-Encoding: %v", h)
	}
	for accept, want := range map[string]string{
		"gzip": "gzip", "deflate, gzip;q=0.5": "gzip", "*": "gzip", "br": "", "gzip;q=0": "", "*, gzip;q=0.0": "", "identity": "", "": "",
		"zstd": "zstd", "gzip, deflate, br, zstd": "zstd", "gzip, zstd;q=0.9": "gzip", "zstd;q=0, gzip;q=0.1": "gzip", "zstd;q=x": "",
	} {
		var headers []string
		if accept != "" {
			headers = append(headers, "Accept-Encoding: "+accept)
		}
		got := k.call("GET", "/v1/checkpoints/k", "", headers...)
		text := got.Body.String()
		if coding := got.Header().Get("Content-Encoding"); coding != want {
			t.Errorf("Accept-Encoding: %s: the answer is encoded as %q", accept, coding)
		} else if coding != "" {
			if len(text) > plain.Body.Len()/2 {
				t.Errorf("%d bytes became %d", plain.Body.Len(), len(text))
			}
			text = map[string]func(*testing.T, io.Reader) string{"gzip": unzipped, "zstd": unzstd}[coding](t, got.Body)
		}
		if text != plain.Body.String() {
			t.Errorf("Accept-Encoding: %s: another answer", accept)
		}
	}
	if got := k.call("GET", "/v1/checkpoints/small", "", "Accept-Encoding: gzip"); got.Header().Get("Content-Encoding") != "" {
		t.Error("a small answer is compressed")
	}
}

func TestStreamsAndSecretsAreNotCompressed(t *testing.T) {
	k := newKitWith(t, rest.Options{Compress: true})
	principal := strings.Repeat("p", 500)
	grants := strings.TrimSuffix(strings.Repeat(`{"scopes":["`+strings.Repeat("s", 400)+`"],"verbs":["read"]},`, 6), ",")
	got := k.call("POST", "/v1/tokens", `{"principal":"`+principal+`","grants":[`+grants+`]}`, "Accept-Encoding: gzip")
	if got.ok(201); got.Body.Len() < 2<<10 || got.Header().Get("Content-Encoding") != "" {
		t.Errorf("a token: %d bytes, %v", got.Body.Len(), got.Header())
	}
	k.call("POST", "/v1/threads/t/entries", `{"entries":[{"payload":{"text":"`+strings.Repeat("long ", 1000)+`"}}]}`).ok(201)
	server := httptest.NewServer(k.handler)
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/v1/threads/t/watch", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Accept-Encoding", "gzip")
	stream, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = stream.Body.Close() }()
	if stream.Header.Get("Content-Encoding") != "" {
		t.Errorf("a stream: %v", stream.Header)
	}
}

func TestACompressedRequestIsTaken(t *testing.T) {
	k := newKitWith(t, rest.Options{})
	body := `{"state":{"text":"` + strings.Repeat("long ", 1000) + `"}}`
	k.call("PUT", "/v1/checkpoints/k", zipped(t, body), "Content-Encoding: gzip").ok(201)
	k.call("PUT", "/v1/checkpoints/k", zipped(t, body), "Content-Encoding: GZIP").ok(200)
	if got := k.call("GET", "/v1/checkpoints/k", ""); !strings.Contains(got.Body.String(), "long long") {
		t.Errorf("it is stored as %s", got.Body)
	}
	k.call("PUT", "/v1/checkpoints/k", zstded(t, body), "Content-Encoding: zstd").ok(200)
	if got := k.call("GET", "/v1/checkpoints/k", ""); !strings.Contains(got.Body.String(), "long long") {
		t.Errorf("it is stored as %s", got.Body)
	}
	k.call("PUT", "/v1/checkpoints/k", body, "Content-Encoding: gzip").problem(400, "invalid")
	k.call("PUT", "/v1/checkpoints/k", body, "Content-Encoding: zstd").problem(400, "invalid")
	k.call("PUT", "/v1/checkpoints/k", zstded(t, body)[:20], "Content-Encoding: zstd").problem(400, "invalid")
	k.call("PUT", "/v1/checkpoints/k", zipped(t, body)[:40], "Content-Encoding: gzip").problem(400, "invalid")
	for _, coding := range []string{"br", "zstd, gzip", "gzip, gzip", "deflate"} {
		got := k.call("PUT", "/v1/checkpoints/k", body, "Content-Encoding: "+coding)
		if got.problem(415, "unsupported_media"); got.Header().Get("Accept-Encoding") != "gzip, zstd" {
			t.Errorf("%s: the answer does not say what is taken: %v", coding, got.Header())
		}
	}
}

// TestAPIsShareNoCoder uses zstd in a bubble and then outside of it: what one API made for its codings is
// not used by another.
func TestAPIsShareNoCoder(t *testing.T) {
	use := func(t *testing.T) {
		t.Helper()
		k := newKitWith(t, rest.Options{Compress: true})
		body := `{"state":{"text":"` + strings.Repeat("long ", 1000) + `"}}`
		k.call("PUT", "/v1/checkpoints/k", zstded(t, body), "Content-Encoding: zstd").ok(201)
		if got := k.call("GET", "/v1/checkpoints/k", "", "Accept-Encoding: zstd"); got.Header().Get("Content-Encoding") != "zstd" {
			t.Errorf("the answer is encoded as %q", got.Header().Get("Content-Encoding"))
		}
	}
	synctest.Test(t, use)
	use(t)
}

// TestACompressedBodyHasTheLimitOfTheBodyItIs sends one byte more than a value may have, and a hundred
// times as much, both of which are small on the wire.
func TestACompressedBodyHasTheLimitOfTheBodyItIs(t *testing.T) {
	k := newKitWith(t, rest.Options{})
	const limit = 4 << 20
	for size, status := range map[int]int{limit: 201, limit + 1: 413, 16 * limit: 413} {
		sent := zipped(t, strings.Repeat("x", size))
		if got := k.call("PUT", "/v1/values/k", sent, "Content-Encoding: gzip", "Content-Type: text/plain"); got.Code != status && (status != 201 || got.Code != 200) {
			t.Errorf("%d bytes in %d: %d %.200s", size, len(sent), got.Code, got.Body)
		}
		sent = zstded(t, strings.Repeat("x", size))
		if got := k.call("PUT", "/v1/values/k", sent, "Content-Encoding: zstd", "Content-Type: text/plain"); got.Code != status && (status != 201 || got.Code != 200) {
			t.Errorf("%d bytes in %d of zstd: %d %.200s", size, len(sent), got.Code, got.Body)
		}
	}
}
