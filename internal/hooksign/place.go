package hooksign

import (
	"errors"
	"net/url"
)

// Place returns the scheme and the host of an endpoint, for logs and errors: the rest of its address may
// hold a secret.
func Place(endpoint string) string {
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" {
		return "its address"
	}
	return (&url.URL{Scheme: at.Scheme, Host: at.Host}).String()
}

// Cause returns why a request failed, without the address that http.Client puts before it.
func Cause(err error) error {
	var at *url.Error
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}
