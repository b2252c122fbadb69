package hooksign_test

import (
	"errors"
	"fmt"
	"net/url"
	"testing"

	"dormouse/internal/hooksign"
)

func TestThePlaceOfAnEndpointHasNoSecret(t *testing.T) {
	for endpoint, want := range map[string]string{
		"https://user:secret@example.com:8443/secret?token=secret#secret": "https://example.com:8443",
		"http://[::1]:80/hook": "http://[::1]:80",
		"secret":               "its address",
		"https://%secret":      "its address",
		"":                     "its address",
	} {
		if got := hooksign.Place(endpoint); got != want {
			t.Errorf("%q is %q, want %q", endpoint, got, want)
		}
	}
}

func TestTheCauseOfAnErrorHasNoAddress(t *testing.T) {
	refused := errors.New("refused")
	for _, err := range []error{refused, &url.Error{Op: "Post", URL: "https://example.com?token=secret", Err: refused}, fmt.Errorf("first: %w", &url.Error{Op: "Post", URL: "secret", Err: refused})} {
		if got := hooksign.Cause(err); got != refused { //nolint:errorlint // it is the error itself
			t.Errorf("%v has the cause %v", err, got)
		}
	}
}
