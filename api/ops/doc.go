// Package ops converts ops, their results and errors between the types of package
// agent and their protobuf form (proto/op), which the public API and the Raft log
// share. Converted values share memory with what they were made from.
//
// ToProto functions panic on a type that they do not know, which is a bug. FromProto
// functions take messages of any origin: what no value of package agent can hold is
// an error with the code invalid.
package ops
