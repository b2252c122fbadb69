// Package timer fires timers that are due. Plan decides what to do with a
// timer, as a function of the timer and the log's time.
//
// A Waker runs on every node and works while its node leads. For each
// occurrence it sends the timer's signal to the instance, with an
// acknowledgement for the turn's commit. An occurrence stays pending until a
// commit acknowledges it, across failures and changes of the leader. No commit
// acknowledges it twice. So its turn applies exactly once, although its handler
// may run more than once.
package timer
