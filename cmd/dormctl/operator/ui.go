package operator

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"html"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/hostcheck"
)

const (
	// browserReads is how long a browser has to read the file that leads it to the console.
	browserReads = 5 * time.Second
	// schemeTimeout bounds the question whether an address uses TLS.
	schemeTimeout = 2 * time.Second
)

func uiCommand(a *kit.App) *cobra.Command {
	var printOnly bool
	var at string
	cmd := &cobra.Command{
		Use: "ui", Short: "Open the console in a browser, signed in", Args: cli.Exactly(),
		Long: "ui opens the console of a node in the browser of this machine, signed in with the token of this command.\n\n" +
			"The browser reads the token from a file that only this user may read, and that is removed after 5 s.\n" +
			"With --print, the address is printed without the token.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			address := strings.TrimSuffix(at, "/")
			if address == "" {
				err := a.With(cmd, func(ctx context.Context, s kit.Store) (err error) {
					address, err = consoleAddress(ctx, s)
					return err
				})
				if err != nil {
					return err
				}
			}
			base, err := url.Parse(address)
			if err != nil || base.Host == "" || base.Scheme != "http" && base.Scheme != "https" {
				return cli.Usagef("--url is %q: give the base URL of a node, such as http://127.0.0.1:7600", at)
			}
			page := base.JoinPath("ui").String() + "/"
			if a.Scope != "default" {
				page += "?scope=" + url.QueryEscape(a.Scope)
			}
			if printOnly {
				var g cli.Grid
				g.Add(page)
				return a.Print(map[string]string{"url": page}, g)
			}
			return openSignedIn(cmd.Context(), a, base, page)
		},
	}
	cmd.Flags().BoolVar(&printOnly, "print", false, "print the address, and open nothing")
	cmd.Flags().StringVar(&at, "url", "", "base URL of the node or of a proxy before it (default: the node that answers)")
	return cmd
}

// consoleAddress returns the base URL of the HTTP API of the node that answers.
func consoleAddress(ctx context.Context, s kit.Store) (string, error) {
	status, err := s.Status(ctx)
	if err != nil {
		return "", fmt.Errorf("find the address of a node (or give it with --url): %w", err)
	}
	for _, m := range status.Members {
		if m.ID == status.Node && m.HTTPAddr != "" {
			return schemeOf(ctx, m) + "://" + m.HTTPAddr, nil
		}
	}
	return "", cli.Usagef("node %s names no HTTP address: give one with --url", status.Node)
}

// schemeOf returns https if the member's HTTP address speaks TLS. It sends nothing but a handshake.
func schemeOf(ctx context.Context, m layout.MemberStatus) string {
	ctx, cancel := context.WithTimeout(ctx, schemeTimeout)
	defer cancel()
	dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // The browser verifies the certificate.
	conn, err := dialer.DialContext(ctx, "tcp", m.HTTPAddr)
	if err != nil {
		return "http"
	}
	_ = conn.Close()
	return "https"
}

// openSignedIn opens the page with the token in its fragment, which browsers do not send. Arguments of
// processes are visible to other users, so the browser gets the address from a file.
func openSignedIn(ctx context.Context, a *kit.App, base *url.URL, page string) (err error) {
	endpoints, err := a.EndpointList()
	if err != nil {
		return err
	}
	token, err := a.Token(endpoints)
	if err != nil {
		return err
	}
	if token == "" {
		return browse(ctx, a, page)
	}
	if base.Scheme == "http" && !hostcheck.Loopback(net.JoinHostPort(base.Hostname(), "80")) && !a.Insecure {
		return cli.Usagef("the token would be sent to %s without encryption: use an https address, or allow it with --insecure", base.Host)
	}
	file, err := os.CreateTemp("", "dormctl-ui-*.html") // mode 0600
	if err != nil {
		return fmt.Errorf("write the file that leads the browser to the console: %w", err)
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	_, err = fmt.Fprintf(file, "<!doctype html><meta charset=utf-8><meta name=referrer content=no-referrer><meta http-equiv=refresh content=\"0;url=%s\"><title>Dormouse</title>\n",
		html.EscapeString(page+"#token="+url.QueryEscape(token)))
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("write the file that leads the browser to the console: %w", err)
	}
	a.Tell("opening %s", page)
	if err := browse(ctx, a, "file://"+filepath.ToSlash(file.Name())); err != nil {
		return err
	}
	select {
	case <-time.After(browserReads):
	case <-ctx.Done():
	}
	return nil
}

// browse opens an address in the browser of this machine.
func browse(ctx context.Context, a *kit.App, address string) error {
	name, args := "xdg-open", []string{address}
	switch runtime.GOOS {
	case "darwin":
		name = "open"
	case "windows":
		name, args = "rundll32", []string{"url.dll,FileProtocolHandler", address}
	}
	if browser := a.Getenv("BROWSER"); browser != "" && runtime.GOOS != "windows" {
		name = browser
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), name, args...)
	if err := cmd.Start(); err != nil {
		return cli.Usagef("start a browser: %w; dormctl ui --print prints the address", err)
	}
	go func() { _ = cmd.Wait() }() // the browser may outlive this command
	return nil
}
