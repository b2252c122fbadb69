// Package rest serves an agent.Service over HTTP: JSON, server-sent events and RFC 9457 problems,
// as the HTTP contract specifies.
//
// It makes no decisions about agent state. It converts a request to one commit or one read, and the
// result to an answer; errors of the service keep their code and details. The JSON documents that
// it carries (states, payloads, refs, metadata) pass as bytes: tokens, member order and number
// literals do not change.
//
// Every operation is declared once, as a route. The server uses the declaration for routing, to
// refuse unknown parameters, and for /openapi.json. Every error, from an unknown path to a panic,
// is answered as a problem.
package rest
