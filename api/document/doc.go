// Package document holds the JSON contract: the documents that HTTP takes and
// answers, and that dormctl reads and prints.
//
// Each document is a struct with the members as the contract names them. A
// function XOf returns the document that stands for a value of package agent. A
// method ToOp returns the op that a body asks for. Ops, reads, results and
// what reads find are each listed in one table, by name or by type: a type that
// is missing there fails a test.
//
// Decode reads a document strictly, and its errors name the member that is
// wrong. ProblemOf makes the problem (RFC 9457) that stands for an error.
package document
