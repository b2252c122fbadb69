// Package convert converts commits, reads, answers and events between the types of
// package agent and the messages of the public gRPC API (proto/api), both ways.
// Package ops converts the ops, results and errors in them. The fields
// principal and token of a commit are for nodes only. A member's FeatureLevelMax is not in the messages.
//
// Converted values share the bytes of what they were made from, so neither may be
// changed afterwards. Messages of one list are allocated together.
//
// FromProto functions refuse only what no value of package agent can hold (an op
// without a kind, a head of the wrong length, a duration that overflows) with an
// *agent.Error of code invalid whose Op is set. Validate checks the rest.
package convert
