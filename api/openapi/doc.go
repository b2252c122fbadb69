// Package openapi completes the OpenAPI document of the HTTP API, whose operations
// package server/rest adds.
//
// It holds what all operations share: the head of the document, the responses with
// problems, the limits of members and parameters, the descriptions that follow from what
// an operation does, and an example for each operation. The document is made for
// generators of clients: answers allow further members, so that a client does not refuse
// the answers of a newer node, and requests do not.
package openapi
