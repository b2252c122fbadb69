// Package claim applies the ops on claims, and ends those that lapse.
//
// A claim is a lease by ticks of the log on a name. Its epoch is the fence of its
// holder's writes.
package claim
