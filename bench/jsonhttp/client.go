// Package jsonhttp calls the JSON APIs of the systems that package bench compares.
package jsonhttp

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"dormouse/bench/load"
)

// Client calls several nodes in turn. Its methods may be called concurrently.
type Client struct {
	bases  []string // base URLs of nodes
	header http.Header
	web    *http.Client
	next   atomic.Uint64 // selects the node of a call
}

// New returns a client of the nodes at these addresses. With HTTP/1.1 it keeps a connection for
// each caller, with HTTP/2 one for each node. It sends the header with each call.
func New(endpoints []string, http2 bool, header http.Header) *Client {
	transport := &http.Transport{MaxIdleConnsPerHost: load.CallersMax, Protocols: &http.Protocols{}}
	transport.Protocols.SetHTTP1(!http2)
	transport.Protocols.SetUnencryptedHTTP2(http2)
	c := &Client{header: header.Clone(), web: &http.Client{Transport: transport}}
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set("Content-Type", "application/json")
	for _, e := range endpoints {
		c.bases = append(c.bases, "http://"+e)
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() error {
	c.web.CloseIdleConnections()
	return nil
}

// StatusError is an answer with a status of 300 or more.
type StatusError struct {
	Code int
	Text string
}

func (e *StatusError) Error() string { return fmt.Sprintf("HTTP %d: %s", e.Code, e.Text) }

// Call sends a body unless it is nil, and decodes the answer into into unless that is nil. It
// returns a *StatusError for an answer that is no success.
func (c *Client) Call(ctx context.Context, method, path string, body, into any) error {
	var sent io.Reader
	if body != nil {
		raw, err := json.Marshal(body)
		if err != nil {
			return fmt.Errorf("encode the body of %s %s: %w", method, path, err)
		}
		sent = bytes.NewReader(raw)
	}
	base := c.bases[c.next.Add(1)%uint64(len(c.bases))]
	request, err := http.NewRequestWithContext(ctx, method, base+path, sent)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	request.Header = c.header // no transport changes it
	response, err := c.web.Do(request)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	answer, err := io.ReadAll(response.Body)
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	if response.StatusCode >= http.StatusMultipleChoices {
		return fmt.Errorf("%s %s: %w", method, path, &StatusError{response.StatusCode, string(answer)})
	}
	if into == nil {
		return nil
	}
	if err := json.Unmarshal(answer, into); err != nil {
		return fmt.Errorf("answer to %s %s: %w", method, path, err)
	}
	return nil
}
