// Package ui serves the console: pages for browsers that show what a cluster holds.
//
// The pages are built from src by bundler, and hold no data: a browser reads it from the HTTP API, with
// the token of the person who signs in. Only the compressed files are embedded.
package ui

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"
	"sync"
)

//go:embed dist
var dist embed.FS

const (
	pageName   = "dist/index.html.gz"
	assetsPath = "/ui/assets/"
	// baseMark stands in the page where the path from its own address to /ui/ belongs.
	baseMark = "{{base}}"
	// depthMax bounds the slashes of an address below /ui/: the base has a step for each. The console's own
	// addresses have fewer.
	depthMax = 32

	// immutable is for files whose names change with their content.
	immutable = "public, max-age=31536000, immutable"
	// revalidated is for pages: browsers ask whether they changed.
	revalidated = "no-cache"
)

// contentTypes are the types of the assets by extension.
var contentTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".svg": "image/svg+xml",
	".txt": "text/plain; charset=utf-8",
}

// console serves the embedded files.
type console struct {
	page  string
	peers func() []string
	plain sync.Map // name of an asset → its bytes, once a client asked for them without compression
}

// Handler returns the handler of / and of all paths below /ui. peers returns the origins of the other
// nodes, which the pages may call besides their own; nil means none.
func Handler(peers func() []string) http.Handler {
	packed, err := dist.ReadFile(pageName)
	if err != nil {
		panic(err) // the build embeds it
	}
	page, err := unpack(packed)
	if err != nil {
		panic(err)
	}
	return &console{page: string(page), peers: peers}
}

// ServeHTTP implements http.Handler.
func (c *console) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Security-Policy", c.policy())
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.Header().Set("Referrer-Policy", "no-referrer")
	w.Header().Set("Cross-Origin-Opener-Policy", "same-origin")
	switch at := r.URL.EscapedPath(); {
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		http.Error(w, "the console answers only GET and HEAD", http.StatusMethodNotAllowed)
	case at == "/" || at == "/ui":
		// The address is relative, so that it is right behind a proxy that serves the node under a path.
		w.Header().Set("Location", "ui/")
		w.WriteHeader(http.StatusFound)
	case strings.HasPrefix(at, assetsPath):
		c.serveAsset(w, r, strings.TrimPrefix(at, assetsPath))
	case strings.HasPrefix(at, "/ui/"):
		c.servePage(w, r, strings.TrimPrefix(at, "/ui/"))
	default:
		http.NotFound(w, r)
	}
}

// policy returns the content security policy: only files of this node, no inline script or style, and
// calls of this node and its peers.
func (c *console) policy() string {
	calls := "'self'"
	if c.peers != nil {
		for _, origin := range c.peers() {
			if u, err := url.Parse(origin); err == nil && u.Host != "" && !strings.ContainsAny(origin, " ;,'\"") {
				calls += " " + origin
			}
		}
	}
	return "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; connect-src " + calls +
		"; base-uri 'self'; form-action 'none'; frame-ancestors 'none'"
}

// servePage answers the one page, whatever the path below /ui/: its script reads the address. The page
// names its files relative to a base, which depends on the number of slashes in the path.
func (c *console) servePage(w http.ResponseWriter, r *http.Request, below string) {
	depth := strings.Count(below, "/")
	if depth > depthMax {
		http.Error(w, "the console has no such page", http.StatusNotFound)
		return
	}
	base := "./" + strings.Repeat("../", depth)
	page := strings.ReplaceAll(c.page, baseMark, base)
	sum := sha256.Sum256([]byte(page))
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.Header().Set("Cache-Control", revalidated)
	if unchanged(w, r, hex.EncodeToString(sum[:8])) {
		return
	}
	send(w, r, []byte(page))
}

// serveAsset answers an embedded file, compressed for clients that accept it.
func (c *console) serveAsset(w http.ResponseWriter, r *http.Request, name string) {
	packed, err := dist.ReadFile("dist/assets/" + name + ".gz")
	if err != nil || name != path.Base(name) {
		w.Header().Set("Cache-Control", "no-store") // the next version may have it
		http.Error(w, "the console has no such file; load the page again", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", contentTypes[path.Ext(name)])
	w.Header().Set("Cache-Control", immutable)
	w.Header().Set("Vary", "Accept-Encoding")
	sum := sha256.Sum256(packed)
	if unchanged(w, r, hex.EncodeToString(sum[:8])) {
		return
	}
	if acceptsGzip(r) {
		w.Header().Set("Content-Encoding", "gzip")
		send(w, r, packed)
		return
	}
	plain, err := c.unpacked(name, packed)
	if err != nil {
		http.Error(w, "the embedded file is damaged: "+err.Error(), http.StatusInternalServerError)
		return
	}
	send(w, r, plain)
}

// unpacked returns the bytes of an asset, the same for all requests: they need no token, and do not count as in
// flight, so one client must not make the node hold them many times.
func (c *console) unpacked(name string, packed []byte) ([]byte, error) {
	if known, ok := c.plain.Load(name); ok {
		return known.([]byte), nil
	}
	plain, err := unpack(packed)
	if err != nil {
		return nil, err
	}
	known, _ := c.plain.LoadOrStore(name, plain)
	return known.([]byte), nil
}

// unchanged sets the entity tag, and answers 304 if the client has that version.
func unchanged(w http.ResponseWriter, r *http.Request, version string) bool {
	tag := `"` + version + `"`
	w.Header().Set("ETag", tag)
	for _, had := range strings.Split(r.Header.Get("If-None-Match"), ",") {
		if had = strings.TrimPrefix(strings.TrimSpace(had), "W/"); had == tag || had == "*" {
			w.WriteHeader(http.StatusNotModified)
			return true
		}
	}
	return false
}

func send(w http.ResponseWriter, r *http.Request, body []byte) {
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	w.WriteHeader(http.StatusOK)
	if r.Method != http.MethodHead {
		_, _ = w.Write(body) // the client has disconnected
	}
}

// acceptsGzip reports whether the client accepts gzip, with any weight but 0.
func acceptsGzip(r *http.Request) bool {
	for _, coding := range strings.Split(r.Header.Get("Accept-Encoding"), ",") {
		name, weight, _ := strings.Cut(coding, ";")
		if strings.TrimSpace(name) == "gzip" {
			weight = strings.ReplaceAll(weight, " ", "")
			return strings.Trim(strings.TrimPrefix(weight, "q="), "0.") != "" || weight == ""
		}
	}
	return false
}

func unpack(packed []byte) ([]byte, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
