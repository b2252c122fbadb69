// Package client is Dormouse from the outside: an agent.Submitter and an
// agent.Operator over gRPC.
//
// All commits and reads of a client share one stream: those that wait at the
// same time travel in one message, one that is alone leaves at once. What is
// in flight is bounded; a full client blocks its callers until their contexts
// end.
//
// Every commit carries a request id, so it applies at most once however often
// it is sent. What was surely not applied is retried; what may have been is
// retried under the same id, on another node where there is one, and from then
// on only a result or a refusal from the log settles it. So Commit returns a
// result, a refusal (surely not applied), or unknown, and never confuses them.
// Reads are retried freely. Retries end with the context, or after
// Options.Timeout where it has no deadline.
//
//	c, err := client.Dial(client.Options{})
//	if err != nil { … }
//	defer c.Close()
//	_, err = c.Append(ctx, agent.AppendThread{Thread: "t1", Entries: []agent.Draft{{Kind: agent.KindMessage}}})
package client
