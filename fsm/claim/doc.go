// Package claim applies the ops on claims, and ends those that expire.
//
// A claim is a lease on a name, in ticks of the log. Its epoch fences its holder's writes.
package claim
