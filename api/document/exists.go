package document

import "dormouse/agent"

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
