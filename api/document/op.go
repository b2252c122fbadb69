package document

import (
	"maps"
	"reflect"

	"dormouse/agent"
)

// wireOp is one op of a commit in a request: its name in "op", and its members next to
// it.
type wireOp interface{ op() (agent.Op, error) }

// opName is the member that names the op.
type opName struct {
	Op string `json:"op"`
}

// wireOps are the ops by name; each noun lists its own.
var wireOps = merged(
	valueOps,
	checkpointOps,
	entryOps,
	hibernationOps,
	threadOps,
	scopeOps,
	claimOps,
	sessionOps,
	memoryOps,
	managerOps,
	timerOps,
	conversationOps,
	fileOps,
	forkOps,
	erasureOps,
	deletionOps,
	ttlOps,
	tokenOps,
)

// merged returns the kinds of all nouns by name.
func merged[K any](nouns ...map[string]func() K) map[string]func() K {
	all := map[string]func() K{}
	for _, kinds := range nouns {
		maps.Copy(all, kinds)
	}
	return all
}

// OpTypes returns the types of the documents of all ops, by name.
func OpTypes() map[string]reflect.Type { return typesOf(wireOps) }

// typesOf returns the types of the documents of kinds.
func typesOf[K any](kinds map[string]func() K) map[string]reflect.Type {
	types := make(map[string]reflect.Type, len(kinds))
	for name, kind := range kinds {
		types[name] = reflect.TypeOf(kind())
	}
	return types
}

// OpDocument is an op before its name is read.
type OpDocument struct{ JSON }

// DecodeOp decodes one op.
func DecodeOp(raw JSON) (agent.Op, error) {
	_, op, err := decodeOp(raw)
	return op, err
}

func decodeOp(raw JSON) (name string, op agent.Op, err error) {
	name, wire, err := decodeNamed(raw, "op", func(n opName) string { return n.Op }, wireOps)
	if err != nil {
		return "", nil, err
	}
	op, err = wire.op()
	return name, op, err
}

// What a write does if there is something of its key or id already.
const (
	existsSkip    = "skip"    // it is kept
	existsReplace = "replace" // a value or a checkpoint gets its next revision
	existsRefuse  = "refuse"  // an entry with other content is a duplicate_entry
)

// skipsExisting returns whether an on_exists keeps what exists. The other allowed word is the
// default; an empty one means it too.
func skipsExisting(onExists, usual string) (bool, error) {
	switch onExists {
	case "", usual:
		return false, nil
	case existsSkip:
		return true, nil
	default:
		return false, agent.Invalid("on_exists", "on_exists = %q must be %s or %s", onExists, usual, existsSkip)
	}
}

// SkipsExistingRow is skipsExisting for a value or a checkpoint.
func SkipsExistingRow(onExists string) (bool, error) { return skipsExisting(onExists, existsReplace) }
