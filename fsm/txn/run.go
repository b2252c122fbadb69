package txn

import (
	"reflect"

	"dormouse/agent"
)

// Op is how a type of op runs.
type Op struct {
	Of  reflect.Type
	Run func(tx *Tx, op agent.Op) (agent.OpResult, error)
}

// OpOf returns how ops of type T run.
func OpOf[T agent.Op](run func(*Tx, T) (agent.OpResult, error)) Op {
	return Op{reflect.TypeFor[T](), func(tx *Tx, op agent.Op) (agent.OpResult, error) {
		return run(tx, op.(T)) //nolint:forcetypeassert // Of is its type
	}}
}

// Read is how a type of read is answered.
type Read struct {
	Of  reflect.Type
	Run func(r Reader, q agent.Read) (agent.Found, error)
}

// ReadOf returns how reads of type T are answered.
func ReadOf[T agent.Read](run func(Reader, T) (agent.Found, error)) Read {
	return Read{reflect.TypeFor[T](), func(r Reader, q agent.Read) (agent.Found, error) {
		return run(r, q.(T)) //nolint:forcetypeassert // Of is its type
	}}
}
