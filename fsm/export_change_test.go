package fsm

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeChange is a change as a reader of the feed sees it, its place apart.
func DecodeChange(p *logpb.Change) agent.Changed { return decodeChange(p) }

// PageOfRow is what a page of the feed has of the row of entry index, past skip
// changes.
func PageOfRow(raw []byte, index, skip uint64, prefix string, limit int) (ChangesPage, error) {
	row, err := decodeChangeRow(raw)
	if err != nil {
		return ChangesPage{}, err
	}
	page := &changesPage{ChangesPage: ChangesPage{Next: index, Skip: skip}, prefix: prefix, limit: limit}
	page.add(index, row)
	return page.ChangesPage, nil
}
