package transfer

import (
	"context"
	"errors"

	"dormouse/agent"
	"dormouse/cmd/dormctl/kit"
	"dormouse/importer"
	"dormouse/internal/cli"
)

// importLive makes live instances of conversations, or compares them.
func importLive(ctx context.Context, a *kit.App, list []importer.Conversation, o importer.InstanceOptions, verify bool) error {
	if verify {
		return verifyInstances(ctx, a, list, o.Options)
	}
	return a.Stream(ctx, func(ctx context.Context, s kit.Store) error {
		bar := cli.NewProgress(a.Stderr, a.Terminal, "importing", importer.Messages(list)*o.Copies, "messages")
		o.Progress = bar.Add
		done, err := importer.ImportInstances(ctx, s, s.Instances(), list, o)
		bar.End()
		if err != nil {
			return unfinished(ctx, err, againHint)
		}
		addSettled(s, &done)
		stats, err := s.Instances().Stats(ctx, o.Scope, importer.InstancesManager)
		return errors.Join(printInstances(a, done, stats), err, differ(done.Differences, "what is stored differs from the file, and was left as it is"))
	})
}

// ImportedInstances is the result of import --instances.
type ImportedInstances struct {
	importedDoc
	Wakes       uint64 `json:"wakes"`      // since the nodes' processes started
	Hibernated  uint64 `json:"hibernated"` // as Wakes
	Differences int    `json:"differences"`
}

func printInstances(a *kit.App, done importer.Summary, stats agent.ManagerStats) error {
	doc := ImportedInstances{importedDoc: importedOf(done), Differences: done.Differences.Count}
	for _, n := range stats.Nodes {
		doc.Wakes += n.Wakes
		doc.Hibernated += n.Hibernated
	}
	g := doc.grid()
	g.Add("wakes", cli.Number(doc.Wakes))
	g.Add("hibernations", cli.Number(doc.Hibernated))
	g.Add("differences", cli.Number(doc.Differences))
	return a.Print(doc, g)
}

func verifyInstances(ctx context.Context, a *kit.App, list []importer.Conversation, o importer.Options) error {
	total := importer.Messages(list) * o.Copies
	return verifyEach(ctx, a, total, "messages", func(ctx context.Context, s kit.Store, progress func(int)) (verifiedDoc, importer.Differences, error) {
		o.Progress = progress
		report, err := importer.VerifyInstances(ctx, s, list, o)
		return verifiedDoc{Nodes: report.Nodes, Agents: report.Conversations, Entries: report.Entries}, report.Differences, err
	})
}
