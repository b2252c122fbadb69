package fsm

import "dormouse/fsm/deletion"

// A small step of deletions lets tests see states in which some rows are left: it removes one key.
func init() { deletion.StepRows = 1 }
