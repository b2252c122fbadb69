// Package jsonhttp calls the JSON APIs of the systems that package bench compares.
package jsonhttp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"sync/atomic"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/bench/load"
)

// Client calls several nodes in turn. Its methods may be called concurrently.
type Client struct {
	http2  bool
	bases  []string // base URLs of nodes
	header http.Header
	web    *http.Client // of HTTP/2
	nodes  []*node      // of HTTP/1.1
	next   atomic.Uint64
}

// New returns a client of the nodes at these addresses. With HTTP/1.1 it keeps a connection for
// each caller, with HTTP/2 one for each node. It sends the header with each call.
func New(endpoints []string, http2 bool, header http.Header) *Client {
	c := &Client{http2: http2, header: header.Clone()}
	if c.header == nil {
		c.header = http.Header{}
	}
	c.header.Set("Content-Type", "application/json")
	transport := &http.Transport{MaxIdleConnsPerHost: load.CallersMax, Protocols: &http.Protocols{}}
	transport.Protocols.SetUnencryptedHTTP2(true)
	c.web = &http.Client{Transport: transport}
	for _, e := range endpoints {
		c.bases = append(c.bases, "http://"+e)
		c.nodes = append(c.nodes, newNode(e, c.header))
	}
	return c
}

// Close closes the idle connections.
func (c *Client) Close() error {
	c.web.CloseIdleConnections()
	for _, n := range c.nodes {
		n.close()
	}
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
	var sent []byte
	if body != nil {
		var err error
		if sent, err = json.Marshal(body, jsontext.AllowDuplicateNames(true)); err != nil {
			return fmt.Errorf("encode the body of %s %s: %w", method, path, err)
		}
	}
	decode := func(status int, answer io.Reader) error {
		switch {
		case status >= http.StatusMultipleChoices:
			text, err := io.ReadAll(answer)
			if err != nil {
				return fmt.Errorf("read the answer: %w", err)
			}
			return &StatusError{status, string(text)}
		case into == nil:
			return nil
		}
		return json.UnmarshalRead(answer, into, jsontext.AllowDuplicateNames(true))
	}
	n := c.next.Add(1) % uint64(len(c.bases))
	var err error
	if c.http2 {
		err = c.callHTTP2(ctx, method, c.bases[n]+path, sent, decode)
	} else {
		err = c.nodes[n].call(ctx, method, path, sent, decode)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", method, path, err)
	}
	return nil
}

// callHTTP2 makes one call over HTTP/2.
func (c *Client) callHTTP2(ctx context.Context, method, url string, body []byte, decode func(status int, answer io.Reader) error) error {
	var sent io.Reader
	if body != nil {
		sent = bytes.NewReader(body)
	}
	request, err := http.NewRequestWithContext(ctx, method, url, sent)
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	request.Header = c.header // no transport changes it
	response, err := c.web.Do(request)
	if err != nil {
		return fmt.Errorf("send the request: %w", err)
	}
	defer func() { _ = response.Body.Close() }() // the body was read
	if err := decode(response.StatusCode, response.Body); err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return err
}
