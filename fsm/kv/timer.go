package kv

import "strings"

// Kinds of timers; see keys.go for the form of all keys.
const (
	KindTimer     = "\x92" // manager, key, timer → logpb.TimerRow
	KindTimerData = "\x93" // manager, key, timer → JSON: the data of its signal
	KindTimerDue  = "\x94" // manager, key, timer: an index of those that the leader must fire
)

// timerKinds are part of ScopedKinds.
var timerKinds = []string{KindTimer, KindTimerData, KindTimerDue}

// TimersDueKey is touched when any timer falls due. No scope has the name "".
var TimersDueKey = IDKey(KindTimerDue, "", "")

// TimerName identifies a timer of a scope.
type TimerName struct{ Manager, Key, ID string }

// Row returns the key of the timer's row of a kind.
func (n TimerName) Row(kind, scope string) string {
	return TimersOf(kind, scope, n.Manager, n.Key) + n.ID + Separator
}

// TimersOf returns the prefix of the keys of an instance's timers.
func TimersOf(kind, scope, manager, key string) string {
	return IDKey(kind, scope, manager) + key + Separator
}

// SplitTimer splits a timer's row key.
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
