// Package client is the Go client of a Dormouse cluster.
//
//	c, err := client.Dial(client.Options{}) // DORMOUSE_ENDPOINTS, or 127.0.0.1:7601
//	if err != nil { … }
//	defer c.Close()
//	_, err = c.Append(ctx, agent.AppendThread{Thread: "t1", Entries: []agent.Draft{{Kind: agent.KindMessage}}})
//
// # Calls
//
// A Client embeds a Scope, which has a method for each call on data, such as Append or
// PutCheckpoint. Each method makes one commit or one linearizable read. Scope.Apply
// commits several ops, all or none. Scope.In returns the calls on another scope, and
// Scope.Under the calls under a claim. A Client also implements agent.Submitter, the
// contract of data, and layout.Operator, the calls of operators.
//
// # Errors
//
// Errors of calls are *agent.Error. errors.Is(err, agent.ErrNotFound) compares codes, and
// agent.OutcomeOf returns what an error says about a write: a refused one was not applied;
// of an undecided one the outcome is not known.
//
// # Pages
//
// A list returns one page of at most agent.Page.Limit rows. Pass the Next of a page as
// the After of the next call, with the same other fields. The last page has the Next "".
// Threads.Entries and Scope.Changes yield all pages.
//
// # Retries
//
// Every commit carries a request id, so it applies at most once however often it is
// sent. The client retries commits that were not applied. If the outcome of an attempt
// is unknown, it retries with the same id, on another node if there is one. Then only
// a result or a refusal from the log ends the commit. So Commit returns a result, a
// refusal (not applied), or unknown, and never confuses them. Reads are always
// retried. Retries end with the context, or after Options.Timeout if it has no
// deadline.
//
// All commits and reads of a client share one stream. Calls that wait at the same time
// are sent in one message; a single call is sent at once. Watches, signals and the other
// calls use gRPC connections beside it, of which each has at most 96 of them. The number
// of calls in flight is bounded: further calls block until a slot is free or their
// contexts end. Watches are not bounded; one that nodes refuse as overloaded waits for
// room until its context ends.
package client
