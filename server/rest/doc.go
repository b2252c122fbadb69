// Package rest serves an agent.Service over HTTP: JSON, server-sent events and
// RFC 9457 problems, as the HTTP contract has them.
//
// It decides nothing about agent state. It turns a request into one commit or
// one read, and what came of that into an answer; what the service refuses
// keeps its code and its facts. The JSON documents that it carries (states,
// payloads, refs, metadata) pass as bytes: tokens, member order and number
// literals are the caller's.
//
// Every operation is declared once, as a route: the declaration is what the
// server routes by, what refuses unknown parameters, and what /openapi.json is
// made from. Whatever goes wrong, from an unknown path to a panic, is answered
// as a problem.
package rest
