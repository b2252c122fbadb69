// Package httpclient is a client of the HTTP API, as a user would write one from
// docs/http.md: it knows the documents of the API only from there, and shares no code
// with the server. It judges an outcome as the answer tells it.
package httpclient
