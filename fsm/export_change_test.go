package fsm

import (
	"dormouse/agent"
	logpb "dormouse/proto/log"
)

// DecodeChange returns a change as readers of the feed see it, without its position.
func DecodeChange(p *logpb.Change) agent.Changed { return decodeChange(p) }

// PageOfRow returns a page of the feed with only the row of entry index, after skip changes.
func PageOfRow(raw []byte, index, skip uint64, prefix string, limit int) (ChangesPage, error) {
	row, err := decodeChangeRow(raw)
	if err != nil {
		return ChangesPage{}, err
	}
	page := &changesPage{ChangesPage: ChangesPage{Next: index, Skip: skip}, prefix: prefix, limit: limit}
	page.add(index, row)
	return page.ChangesPage, nil
}
