package kv

import "strings"

// Kinds of timers; keys.go says what all keys have in common.
const (
	KindTimer     = "\x92" // manager, key, timer → logpb.TimerRow
	KindTimerData = "\x93" // manager, key, timer → JSON: the data of its signal
	KindTimerDue  = "\x94" // manager, key, timer: an index of those that the leader is to fire
)

// timerKinds are those of ScopedKinds.
var timerKinds = []string{KindTimer, KindTimerData, KindTimerDue}

// TimersDueKey is touched when a timer falls due, whose ever it is. No scope is
// "".
var TimersDueKey = IDKey(KindTimerDue, "", "")

// TimerName says which timer of a scope is meant.
type TimerName struct{ Manager, Key, ID string }

// Row names the timer's row of a kind.
func (n TimerName) Row(kind, scope string) string {
	return TimersOf(kind, scope, n.Manager, n.Key) + n.ID + Separator
}

// TimersOf begins the keys of an instance's timers.
func TimersOf(kind, scope, manager, key string) string {
	return IDKey(kind, scope, manager) + key + Separator
}

// SplitTimer takes a timer's row key apart.
func SplitTimer(row string) (scope string, n TimerName, ok bool) {
	if row == "" {
		return "", n, false
	}
	scope, rest, _ := strings.Cut(row[1:], Separator)
	n.Manager, rest, _ = strings.Cut(rest, Separator)
	n.Key, rest, _ = strings.Cut(rest, Separator)
	n.ID, rest, ok = strings.Cut(rest, Separator)
	return scope, n, ok && rest == ""
}
