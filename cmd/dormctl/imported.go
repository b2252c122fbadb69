package main

import (
	"fmt"

	"dormouse/client"
	"dormouse/importer"
)

// addSettled adds what the client settled below the importer.
func addSettled(s store, summary *importer.Summary) {
	if c, ok := s.(interface{ Stats() client.Stats }); ok {
		stats := c.Stats()
		summary.Retries += int64(stats.Retries)
		summary.Unknown += int64(stats.Settled)
	}
}

// importedDoc is what an import came to, whatever it makes of conversations.
type importedDoc struct {
	Conversations int     `json:"conversations"`
	Messages      int     `json:"messages"`
	Already       int     `json:"already"`
	Seconds       float64 `json:"seconds"`
	Speed         float64 `json:"messages_per_second"`
	Retries       int64   `json:"retries"`
}

func importedOf(s importer.Summary) importedDoc {
	seconds := s.Elapsed.Seconds()
	return importedDoc{s.Conversations, s.Messages, s.Already, seconds, float64(s.Messages) / max(seconds, 1e-3), s.Retries}
}

func (d importedDoc) grid() grid {
	var g grid
	g.add("conversations", number(d.Conversations))
	g.add("messages", number(d.Messages))
	g.add("already there", number(d.Already))
	g.add("seconds", fmt.Sprintf("%.1f", d.Seconds))
	g.add("messages/s", fmt.Sprintf("%.0f", d.Speed))
	g.add("retries", number(d.Retries))
	return g
}
