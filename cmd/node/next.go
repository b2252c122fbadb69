package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"dormouse/config"
)

// readyEvery is the interval of readiness checks of a starting dev node.
const readyEvery = 50 * time.Millisecond

// ready waits until the node reports over HTTP that it is ready. It returns false if ctx ends
// first, or if the request would need TLS.
func ready(ctx context.Context, c config.Config) bool {
	if c.HTTP.Listen().TLS() || c.Issued(c.HTTP.Listen()) {
		return false
	}
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	ticker := time.NewTicker(readyEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-ticker.C:
		}
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+c.HTTP.Advertise+"/readyz", nil)
		if err != nil {
			return false
		}
		response, err := client.Do(request)
		if err != nil {
			continue
		}
		if err := response.Body.Close(); err == nil && response.StatusCode == http.StatusOK {
			return true
		}
	}
}

// next returns what to try on a new dev node: commands that can be pasted, repeatedly.
func next(daemon string, c config.Config) string {
	ctl := "dormctl"
	if strings.ContainsRune(daemon, filepath.Separator) {
		ctl = shellQuote(filepath.Dir(daemon) + string(filepath.Separator) + "dormctl")
	}
	if c.GRPC.Advertise != "127.0.0.1:7601" {
		ctl += " --endpoints " + c.GRPC.Advertise
	}
	kept := "data in " + c.Node.DataDir
	if c.Node.Ephemeral {
		kept = "nothing on disk"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nDormouse is awake: one node, %s. Ctrl-C stops it. In another terminal, try:\n\n", kept)
	for _, line := range []string{
		ctl + ` status`,
		ctl + ` threads append chat-1 '{"role":"user","content":"Good night!"}'`,
		ctl + ` checkpoints put agent-1 '{"mood":"sleepy"}' --thread chat-1 --rev 1`,
		ctl + ` agents thaw agent-1`,
		`curl -s http://` + c.HTTP.Advertise + `/v1/threads/chat-1/entries`,
		`curl -s http://` + c.HTTP.Advertise + `/v1/agents/agent-1/thaw`,
	} {
		b.WriteString("  " + line + "\n")
	}
	fmt.Fprintf(&b, "\nThe console is at http://%s/ui/, and http://%s/openapi.json describes the HTTP API.\n\n", c.HTTP.Advertise, c.HTTP.Advertise)
	return b.String()
}

// shellQuote returns plain paths unchanged and quotes others for a shell.
func shellQuote(path string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("/._-+@", r)
	}
	if strings.ContainsFunc(path, func(r rune) bool { return !plain(r) }) {
		return "'" + strings.ReplaceAll(path, "'", `'\''`) + "'"
	}
	return path
}
