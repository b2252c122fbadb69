// Package document defines the JSON documents of HTTP, which dormctl also reads and
// prints.
//
// Each document is a struct with the members of the HTTP API. A function XOf returns
// the document of a value of package agent. A method ToOp returns the op of a request
// body. Tables list all ops, reads, results and found values, by name or by type; a
// test fails if a type is missing.
//
// Decode decodes a document strictly, and its errors name the wrong member. ProblemOf
// returns the problem (RFC 9457) of an error.
package document
