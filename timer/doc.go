// Package timer fires timers: it plans what is to become of one that is due,
// and has the leader do that.
//
// Plan is a function of a timer and the log's time. The Waker runs on every
// node and works on the one that leads: for each occurrence it sends the
// timer's signal to the instance, with the acknowledgement that the turn's
// commit is to carry. Whatever fails, whoever leads next, the occurrence pends
// until a commit has acknowledged it, and none acknowledges it twice; so its
// turn applies exactly once, though the handler may run more often.
package timer
