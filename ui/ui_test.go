package ui_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"regexp"
	"strings"
	"testing"

	"dormouse/ui"
)

func get(t *testing.T, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	return ask(t, http.MethodGet, path, headers...)
}

func ask(t *testing.T, method, path string, headers ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	ui.Handler(func() []string { return []string{"http://10.0.0.2:7600", "http://bad host; script-src *"} }).ServeHTTP(w, r)
	return w
}

var reference = regexp.MustCompile(`(?:src|href)="(assets/[^"]+)"`)

// references returns the assets that the page names.
func references(t *testing.T, page string) []string {
	t.Helper()
	var out []string
	for _, m := range reference.FindAllStringSubmatch(page, -1) {
		out = append(out, m[1])
	}
	if len(out) < 2 {
		t.Fatalf("the page names the files %v, want a script and a style", out)
	}
	if strings.Count(page, "modulepreload")+2 != len(out) || !strings.Contains(strings.Join(out, " "), "/all-") {
		t.Errorf("the page names the files %v, want besides the script and the style those that it loads at once, with the pages", out)
	}
	return out
}

func TestEachPathBelowUIIsThePageWithTheRightBase(t *testing.T) {
	for at, base := range map[string]string{
		"/ui/": "./", "/ui/agents": "./", "/ui/agents?id=a/b": "./", "/ui/a/": "./../", "/ui/a/b": "./../", "/ui/a%2Fb": "./", "/ui/a/b/c": "./../../",
	} {
		got := get(t, at)
		if got.Code != 200 || !strings.Contains(got.Body.String(), `<base href="`+base+`">`) {
			t.Errorf("%s answers %d and not the base %s: %.300s", at, got.Code, base, got.Body)
		}
		// A browser resolves the base against the address, and the files against the base.
		plain, _, _ := strings.Cut(at, "?")
		if escaped := strings.ReplaceAll(plain, "%2F", "_"); path.Join(path.Dir(escaped+"x"), base) != "/ui" {
			t.Errorf("from %s the base %s leads to %s", at, base, path.Join(path.Dir(escaped+"x"), base))
		}
	}
}

func TestTheRootLeadsToTheConsoleAlsoBehindAProxy(t *testing.T) {
	for _, at := range []string{"/", "/ui"} {
		got := get(t, at)
		if got.Code != http.StatusFound || got.Header().Get("Location") != "ui/" {
			t.Errorf("%s answers %d to %q, want a relative address", at, got.Code, got.Header().Get("Location"))
		}
	}
}

func TestAPageMayRunOnlyWhatTheNodeServes(t *testing.T) {
	page := get(t, "/ui/")
	policy := page.Header().Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "script-src 'self';", "style-src 'self';", "img-src 'self' data: blob:;", "connect-src 'self' http://10.0.0.2:7600;", "frame-ancestors 'none'", "base-uri 'self'"} {
		if !strings.Contains(policy+";", part) {
			t.Errorf("the policy lacks %q: %s", part, policy)
		}
	}
	if strings.Contains(policy, "unsafe") || strings.Contains(policy, "bad host") {
		t.Errorf("the policy is %s", policy)
	}
	if body := page.Body.String(); strings.Contains(body, "<style") || strings.Contains(body, "style=") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(body) || regexp.MustCompile(` on[a-z]+=`).MatchString(body) {
		t.Errorf("the page has a script or a style of its own: %s", body)
	}
	if page.Header().Get("X-Content-Type-Options") != "nosniff" || page.Header().Get("Cache-Control") != "no-cache" {
		t.Errorf("the page has %v", page.Header())
	}
}

func TestAssetsAreKeptForGoodAndComeCompressed(t *testing.T) {
	for _, name := range references(t, get(t, "/ui/").Body.String()) {
		packed := get(t, "/ui/"+name, "Accept-Encoding: br, gzip")
		if packed.Code != 200 || packed.Header().Get("Content-Encoding") != "gzip" || packed.Header().Get("Vary") != "Accept-Encoding" || !strings.Contains(packed.Header().Get("Cache-Control"), "immutable") {
			t.Fatalf("%s answers %d %v", name, packed.Code, packed.Header())
		}
		z, err := gzip.NewReader(packed.Body)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		for _, refusal := range []string{"", "gzip;q=0", "br"} {
			plain := get(t, "/ui/"+name, "Accept-Encoding: "+refusal)
			if plain.Header().Get("Content-Encoding") != "" || plain.Body.String() != string(unpacked) {
				t.Errorf("%s with Accept-Encoding %q is %v of %d bytes, want %d plain ones", name, refusal, plain.Header(), plain.Body.Len(), len(unpacked))
			}
		}
		for _, had := range []string{packed.Header().Get("ETag"), `"x", W/` + packed.Header().Get("ETag")} {
			if again := get(t, "/ui/"+name, "If-None-Match: "+had); again.Code != http.StatusNotModified || again.Body.Len() != 0 {
				t.Errorf("%s with the entity tag %s answers %d", name, had, again.Code)
			}
		}
		if head := ask(t, http.MethodHead, "/ui/"+name, "Accept-Encoding: gzip"); head.Body.Len() != 0 || head.Header().Get("Content-Length") != packed.Header().Get("Content-Length") {
			t.Errorf("HEAD %s answers %v", name, head.Header())
		}
	}
}

func TestWhatIsNotThereIsNotKept(t *testing.T) {
	for _, at := range []string{"/ui/assets/none.js", "/ui/assets/../index.html", "/ui/assets/", "/ui/assets/%2e%2e%2findex.html"} {
		if got := get(t, at); got.Code != http.StatusNotFound || got.Header().Get("Cache-Control") != "no-store" {
			t.Errorf("%s answers %d %v", at, got.Code, got.Header())
		}
	}
	if got := ask(t, http.MethodPost, "/ui/"); got.Code != http.StatusMethodNotAllowed || got.Header().Get("Allow") != "GET, HEAD" {
		t.Errorf("POST answers %d %v", got.Code, got.Header())
	}
}

// discarding is an answer of which nothing is kept.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(b []byte) (int, error) { return len(b), nil }
func (d discarding) WriteHeader(int)             {}

// Requests without a token do not make the node hold a copy of a file each, nor a page that grows with its address.
func TestAnAnswerTakesLittleMemory(t *testing.T) {
	h := ui.Handler(nil)
	name := references(t, get(t, "/ui/").Body.String())[0]
	request := httptest.NewRequest(http.MethodGet, "/ui/"+name, nil)
	size := len(get(t, "/ui/"+name).Body.Bytes())
	used := testing.Benchmark(func(b *testing.B) {
		b.Helper()
		b.ReportAllocs()
		for range b.N {
			h.ServeHTTP(discarding{http.Header{}}, request)
		}
	}).AllocedBytesPerOp()
	if used > int64(size)/2 {
		t.Errorf("a request for a file of %d bytes takes %d bytes", size, used)
	}
	if got := get(t, "/ui/"+strings.Repeat("a/", 1000)); got.Code != http.StatusNotFound || got.Body.Len() > 1000 {
		t.Errorf("an address with 1,000 slashes: %d, %d bytes", got.Code, got.Body.Len())
	}
}
