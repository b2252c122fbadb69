package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// Ledger records which call made which version of which object of a key, by the
// answers of writes and reads. Every write has a name that is unique among the writes
// to its object and is part of the written content.
type Ledger struct {
	Key        string
	Ops        []history.Op
	Findings   *Findings
	Author     map[Write]int     // → the index of the call in Ops
	FirstSeen  map[string]string // :: name of a write that may go to any object → the object where it was first seen
	objects    map[string]*Object
	Disordered bool // a version has two writers or an unknown one: the order cannot be judged
}

// Write identifies a write to an object.
type Write struct{ Object, Name string }

// Object is the known history of one object. Its versions grow by one with each write,
// from 1.
type Object struct {
	Names    map[uint64]string // :: version → name of the write that made it
	Version  map[string]uint64 // the inverse of Names
	Versions []uint64          // the known versions, sorted; set by Settle
}

// NewLedger returns a ledger of the key, whose calls are ops. Findings go to f.
func NewLedger(key string, ops []history.Op, f *Findings) *Ledger {
	return &Ledger{Key: key, Ops: ops, Findings: f, Author: map[Write]int{}, FirstSeen: map[string]string{}, objects: map[string]*Object{}}
}

// Authored records that a call tried to make a write to an object. "" means any
// object: a caller may not know the incarnation that its write goes to.
func (l *Ledger) Authored(call int, object, name string) { l.Author[Write{object, name}] = call }

// authorOf returns the call that tried to make a write.
func (l *Ledger) authorOf(object, name string) (call int, known bool) {
	if call, known = l.Author[Write{object, name}]; !known {
		call, known = l.Author[Write{"", name}]
	}
	return call, known
}

// Saw records that the write name made a version of an object, as the answer of the
// call witness shows.
func (l *Ledger) Saw(name, in string, version uint64, witness int) {
	author, known := l.authorOf(in, name)
	if !known {
		l.Disordered = true
		l.Findings.Add("written by no call", l.Key, l.Of(witness),
			"%s found version %d of %s to be %q, which no call tried to write there", NameOf(l.Ops[witness]), version, in, name)
		return
	}
	o := l.Object(in)
	other, taken := o.Names[version]
	before, again := o.Version[name]
	first, elsewhere := l.FirstSeen[name]
	switch {
	case elsewhere && first != in:
		l.Disordered = true
		l.Findings.Add("applied twice", l.Key, l.Of(author, witness),
			"%q is in %s, and in %s, as %s shows", name, first, in, NameOf(l.Ops[witness]))
		return
	case taken && other == name:
		return
	case taken:
		l.Disordered = true
		l.Findings.Add("two histories", l.Key, l.Of(l.MustAuthor(in, other), author, witness),
			"version %d of %s is %q, and it is %q, as %s shows", version, in, other, name, NameOf(l.Ops[witness]))
		return
	case again:
		l.Disordered = true
		l.Findings.Add("applied twice", l.Key, l.Of(author, witness),
			"%q made version %d of %s, and version %d, as %s shows", name, before, in, version, NameOf(l.Ops[witness]))
		return
	case l.Ops[author].Outcome == history.Refused:
		l.Findings.Add("refused but applied", l.Key, l.Of(author, witness),
			"%s was refused (%s), but made version %d of %s, as %s shows",
			NameOf(l.Ops[author]), l.Ops[author].Code, version, in, NameOf(l.Ops[witness]))
	}
	o.Names[version], o.Version[name] = name, version
	if _, anywhere := l.Author[Write{"", name}]; anywhere {
		l.FirstSeen[name] = in
	}
}

// MustAuthor returns the author of a write that was seen.
func (l *Ledger) MustAuthor(object, name string) int {
	call, _ := l.authorOf(object, name)
	return call
}

// Of returns some of the calls, sorted, without duplicates.
func (l *Ledger) Of(calls ...int) []history.Op { return CallsOf(l.Ops, calls...) }

// CallsOf returns some of a history's calls, sorted, without duplicates.
func CallsOf(ops []history.Op, calls ...int) []history.Op {
	var some []history.Op
	for _, call := range slices.Compact(slices.Sorted(slices.Values(calls))) {
		some = append(some, ops[call])
	}
	return some
}

// Object returns the known history of an object, which may be empty.
func (l *Ledger) Object(name string) *Object {
	o := l.objects[name]
	if o == nil {
		o = &Object{Names: map[uint64]string{}, Version: map[string]uint64{}}
		l.objects[name] = o
	}
	return o
}

// Settle sorts the versions. Call it after the last Saw.
func (l *Ledger) Settle() {
	for _, o := range l.objects {
		o.Versions = make([]uint64, 0, len(o.Names))
		for version := range o.Names {
			o.Versions = append(o.Versions, version)
		}
		slices.Sort(o.Versions)
	}
}

// KnownUpTo reports whether the writer of every version up to the given one is known.
func (o *Object) KnownUpTo(version uint64) bool {
	at, _ := slices.BinarySearch(o.Versions, version+1)
	return uint64(at) == version
}

// JudgeOrder searches for one order of calls that explains them all and keeps real
// time. transactions has the calls that took effect, by their index in Ops.
func (l *Ledger) JudgeOrder(transactions map[int]*model.Transaction) {
	if l.Disordered {
		return
	}
	all, ops := make([]model.Transaction, 0, len(transactions)), make([]history.Op, 0, len(transactions))
	for call, op := range l.Ops {
		if t := transactions[call]; t != nil {
			t.Span = spanOf(op)
			all, ops = append(all, *t), append(ops, op)
		}
	}
	l.Findings.contradiction(l.Key, model.Contradiction(all), ops)
}

// IncarnationName returns the ledger's object name of an incarnation.
func IncarnationName(incarnation uint64) string { return fmt.Sprintf("incarnation %d", incarnation) }

// IncarnationOf returns the incarnation of an object name, or 0 if it has none.
func IncarnationOf(name string) uint64 {
	_, number, _ := strings.Cut(name, " ")
	incarnation, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return incarnation
}
