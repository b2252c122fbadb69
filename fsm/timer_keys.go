package fsm

import "strings"

// Kinds of timers; keys.go says what all keys have in common.
const (
	kindTimer     = "\x92" // manager, key, timer → logpb.TimerRow
	kindTimerData = "\x93" // manager, key, timer → JSON: the data of its signal
	kindTimerDue  = "\x94" // manager, key, timer: an index of those that the leader is to fire
)

// timerKinds are those of scopedKinds.
var timerKinds = []string{kindTimer, kindTimerData, kindTimerDue}

// timersDueKey is touched when a timer falls due, whose ever it is. No scope is
// "".
var timersDueKey = idKey(kindTimerDue, "", "")

// timerName says which timer of a scope is meant.
type timerName struct{ manager, key, id string }

func (n timerName) row(kind, scope string) string {
	return timersOf(kind, scope, n.manager, n.key) + n.id + separator
}

// timersOf begins the keys of an instance's timers.
func timersOf(kind, scope, manager, key string) string {
	return idKey(kind, scope, manager) + key + separator
}

// splitTimer takes a timer's row key apart.
func splitTimer(row string) (scope string, n timerName, ok bool) {
	if row == "" {
		return "", n, false
	}
	scope, rest, _ := strings.Cut(row[1:], separator)
	n.manager, rest, _ = strings.Cut(rest, separator)
	n.key, rest, _ = strings.Cut(rest, separator)
	n.id, rest, ok = strings.Cut(rest, separator)
	return scope, n, ok && rest == ""
}
