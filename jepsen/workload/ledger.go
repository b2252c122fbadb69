package workload

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"dormouse/jepsen/history"
	"dormouse/jepsen/model"
)

// ledger is who made which version of which object of a key, by what writers
// were told and what readers saw. Every write has a name that no other write
// to its object has, and what it wrote holds that name.
type ledger struct {
	key        string
	ops        []history.Op
	findings   *findings
	author     map[write]int     // → the call, by its place in ops
	home       map[string]string // :: a write that may go to any object → where it was first seen
	objects    map[string]*object
	disordered bool // a version has two writers, or one that nobody knows: there is no order to judge
}

type write struct{ object, name string }

// object is what is known of one object's versions, which grow with each write
// to it: from 1, without gaps.
type object struct {
	names    map[uint64]string // :: version → the write that made it
	version  map[string]uint64 // … and the other way round
	versions []uint64          // the known ones, in order, once settled
}

func newLedger(key string, ops []history.Op, f *findings) *ledger {
	return &ledger{key: key, ops: ops, findings: f, author: map[write]int{}, home: map[string]string{}, objects: map[string]*object{}}
}

// authored notes that a call was to make a write to an object. "" stands for
// any: a caller cannot know in which incarnation its write ends up.
func (l *ledger) authored(call int, object, name string) { l.author[write{object, name}] = call }

// authorOf is the call that was to make a write.
func (l *ledger) authorOf(object, name string) (call int, known bool) {
	if call, known = l.author[write{object, name}]; !known {
		call, known = l.author[write{"", name}]
	}
	return call, known
}

// saw notes that a version of an object was made by a write, as the call
// witness shows.
func (l *ledger) saw(name, in string, version uint64, witness int) {
	author, known := l.authorOf(in, name)
	if !known {
		l.disordered = true
		l.findings.add("written by nobody", l.key, l.of(witness),
			"%s found version %d of %s to be %q, which nobody was to write there", nameOf(l.ops[witness]), version, in, name)
		return
	}
	o := l.object(in)
	other, taken := o.names[version]
	before, again := o.version[name]
	home, elsewhere := l.home[name]
	switch {
	case elsewhere && home != in:
		l.disordered = true
		l.findings.add("applied twice", l.key, l.of(author, witness),
			"%q is in %s, and in %s, as %s shows", name, home, in, nameOf(l.ops[witness]))
		return
	case taken && other == name:
		return
	case taken:
		l.disordered = true
		l.findings.add("two histories", l.key, l.of(l.mustAuthor(in, other), author, witness),
			"version %d of %s is %q, and it is %q, as %s shows", version, in, other, name, nameOf(l.ops[witness]))
		return
	case again:
		l.disordered = true
		l.findings.add("applied twice", l.key, l.of(author, witness),
			"%q made version %d of %s, and version %d, as %s shows", name, before, in, version, nameOf(l.ops[witness]))
		return
	case l.ops[author].Outcome == history.Refused:
		l.findings.add("refused but applied", l.key, l.of(author, witness),
			"%s was refused (%s), and made version %d of %s all the same, as %s shows",
			nameOf(l.ops[author]), l.ops[author].Code, version, in, nameOf(l.ops[witness]))
	}
	o.names[version], o.version[name] = name, version
	if _, anywhere := l.author[write{"", name}]; anywhere {
		l.home[name] = in
	}
}

// mustAuthor is the author of a write that was seen.
func (l *ledger) mustAuthor(object, name string) int {
	call, _ := l.authorOf(object, name)
	return call
}

// of is some of the calls, in their order, each once.
func (l *ledger) of(calls ...int) []history.Op { return callsOf(l.ops, calls...) }

// callsOf is some of a history's calls, in their order, each once.
func callsOf(ops []history.Op, calls ...int) []history.Op {
	var some []history.Op
	for _, call := range slices.Compact(slices.Sorted(slices.Values(calls))) {
		some = append(some, ops[call])
	}
	return some
}

// object is what is known of one, which may be nothing.
func (l *ledger) object(name string) *object {
	o := l.objects[name]
	if o == nil {
		o = &object{names: map[uint64]string{}, version: map[string]uint64{}}
		l.objects[name] = o
	}
	return o
}

// settle puts the versions in order, once all that was seen is noted.
func (l *ledger) settle() {
	for _, o := range l.objects {
		o.versions = make([]uint64, 0, len(o.names))
		for version := range o.names {
			o.versions = append(o.versions, version)
		}
		slices.Sort(o.versions)
	}
}

// knownUpTo tells whether it is known who made every version up to one.
func (o *object) knownUpTo(version uint64) bool {
	at, _ := slices.BinarySearch(o.versions, version+1)
	return uint64(at) == version
}

// judgeOrder looks for one order of calls that explains them all and keeps
// real time. transactions has those that took effect, by their place in ops.
func (l *ledger) judgeOrder(transactions map[int]*model.Transaction) {
	if l.disordered {
		return
	}
	all, ops := make([]model.Transaction, 0, len(transactions)), make([]history.Op, 0, len(transactions))
	for call, op := range l.ops {
		if t := transactions[call]; t != nil {
			t.Span = spanOf(op)
			all, ops = append(all, *t), append(ops, op)
		}
	}
	l.findings.contradiction(l.key, model.Contradiction(all), ops)
}

// incarnationName is what the ledger calls an incarnation, incarnationOf the
// way back: 0 for what is none.
func incarnationName(incarnation uint64) string { return fmt.Sprintf("incarnation %d", incarnation) }

func incarnationOf(name string) uint64 {
	_, number, _ := strings.Cut(name, " ")
	incarnation, err := strconv.ParseUint(number, 10, 64)
	if err != nil {
		return 0
	}
	return incarnation
}
