// Package tenant limits the rates of scopes on one node: requests and bytes a second, and watches at
// once. A Limiter keeps the scopes of which it has seen requests lately; Service and Instances apply
// it to the calls of clients. Calls that are about no scope (access.OfScope) and parts inside a node,
// such as timers, are not limited.
//
// The limits are those of the scope's policy, as this node has applied it. Each node counts by
// itself: what one node serves does not count on another. A new policy takes effect within
// policyMaxAge.
package tenant
