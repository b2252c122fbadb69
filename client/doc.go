// Package client is the Go client: an agent.Submitter and an layout.Operator over gRPC.
//
// All commits and reads of a client share one stream. Calls that wait at the same time
// are sent in one message; a single call is sent at once. The number of calls in
// flight is bounded: further calls block until a slot is free or their contexts end.
//
// Every commit carries a request id, so it applies at most once however often it is
// sent. The client retries commits that were not applied. If the outcome of an attempt
// is unknown, it retries with the same id, on another node if there is one. Then only
// a result or a refusal from the log ends the commit. So Commit returns a result, a
// refusal (not applied), or unknown, and never confuses them. Reads are always
// retried. Retries end with the context, or after Options.Timeout if it has no
// deadline.
//
//	c, err := client.Dial(client.Options{})
//	if err != nil { … }
//	defer c.Close()
//	_, err = c.Append(ctx, agent.AppendThread{Thread: "t1", Entries: []agent.Draft{{Kind: agent.KindMessage}}})
package client
