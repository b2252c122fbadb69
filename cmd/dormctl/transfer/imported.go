package transfer

import (
	"fmt"

	"dormouse/client"
	"dormouse/cmd/dormctl/kit"
	"dormouse/importer"
	"dormouse/internal/cli"
)

// addSettled adds the client's own retries to the summary.
func addSettled(s kit.Store, summary *importer.Summary) {
	if c, ok := s.(interface{ Stats() client.Stats }); ok {
		stats := c.Stats()
		summary.Retries += int64(stats.Retries)
		summary.Unknown += int64(stats.Settled)
	}
}

// importedDoc is the result of an import; all kinds of import share it.
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

func (d importedDoc) grid() cli.Grid {
	var g cli.Grid
	g.Add("conversations", cli.Number(d.Conversations))
	g.Add("messages", cli.Number(d.Messages))
	g.Add("already there", cli.Number(d.Already))
	g.Add("seconds", fmt.Sprintf("%.1f", d.Seconds))
	g.Add("messages/s", fmt.Sprintf("%.0f", d.Speed))
	g.Add("retries", cli.Number(d.Retries))
	return g
}
