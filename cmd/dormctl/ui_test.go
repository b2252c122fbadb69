package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestUIPrintsTheAddressWithoutTheToken(t *testing.T) {
	c := newConsole()
	c.env["DORMOUSE_TOKEN"] = "dmt_secret"
	out, errs, code := c.run("", "ui", "--print")
	if code != 0 || out != "http://127.0.0.1:7600/ui/\n" || strings.Contains(errs, "secret") {
		t.Errorf("it printed %q and %q with code %d", out, errs, code)
	}
	out, _, _ = c.run("", "ui", "--print", "--url", "https://example.com/dormouse/", "--scope", "team a")
	if out != "https://example.com/dormouse/ui/?scope=team+a\n" {
		t.Errorf("with --url and --scope it printed %q", out)
	}
	if out, _, _ := c.run("", "ui", "--print", "-o", "json"); out != `{"url":"http://127.0.0.1:7600/ui/"}`+"\n" {
		t.Errorf("as JSON it printed %q", out)
	}
	if _, errs, code := c.run("", "ui", "--print", "--url", "example.com"); code != 2 || !strings.Contains(errs, "--url is") {
		t.Errorf("a URL without a scheme is %q with code %d", errs, code)
	}
	if _, errs, code := c.run("", "ui", "--url", "http://example.com"); code != 2 || !strings.Contains(errs, "without encryption") {
		t.Errorf("a token for a page without TLS is %q with code %d", errs, code)
	}
}

// TestUILeadsTheBrowserThroughAFile runs a browser that copies the file that it is given.
func TestUILeadsTheBrowserThroughAFile(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the browser is a shell script")
	}
	dir := t.TempDir()
	browser, seen := filepath.Join(dir, "browser"), filepath.Join(dir, "seen")
	script := "#!/bin/sh\nls -l \"${1#file://}\" | cut -c1-10 >" + seen + ".new\ncat \"${1#file://}\" >>" + seen + ".new\nmv " + seen + ".new " + seen + "\n"
	if err := os.WriteFile(browser, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TMPDIR", dir)
	c := newConsole()
	c.env["BROWSER"], c.env["DORMOUSE_TOKEN"] = browser, "dmt_se&cret"
	done := make(chan string, 1)
	go func() {
		_, errs, _ := c.run("", "ui")
		done <- errs
	}()
	for began := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		raw, err := os.ReadFile(seen)
		if err == nil {
			if got := string(raw); !strings.HasPrefix(got, "-rw-------") || !strings.Contains(got, "0;url=http://127.0.0.1:7600/ui/#token=dmt_se%26cret\"") {
				t.Errorf("the browser's file is %s", got)
			}
			break
		}
		if time.Since(began) > 10*time.Second {
			t.Fatal("the browser was not started")
		}
	}
	if errs := <-done; strings.Contains(errs, "cret") || !strings.Contains(errs, "opening http://127.0.0.1:7600/ui/") {
		t.Errorf("it said %q", errs)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "dormctl-ui-*")); len(left) > 0 {
		t.Errorf("it left %v", left)
	}
}
