package fsm

import (
	"dormouse/fsm/txn"
)

// ListedLevel is the feature level from which on all memories are listed.
const ListedLevel = txn.ListedLevel
