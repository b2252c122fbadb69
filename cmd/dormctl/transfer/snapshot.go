package transfer

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/proto/snapfile"
)

func snapshotCommand(a *kit.App) *cobra.Command {
	return cli.Group("snapshot", "Snapshots and backups, offline", snapshotInspect(a))
}

type snapshotDoc struct {
	ClusterID    string   `json:"cluster_id"`
	Index        uint64   `json:"index"`
	Term         uint64   `json:"term"`
	Time         int64    `json:"time"`
	TickMS       uint64   `json:"tick_ms"`
	Chain        string   `json:"chain"`
	FeatureLevel uint32   `json:"feature_level"`
	Format       uint32   `json:"format"`
	Files        int      `json:"files"`
	Bytes        uint64   `json:"bytes"`
	Damages      []string `json:"damages"`
}

func snapshotInspect(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "inspect FILE|DIR", Short: "Show the content of a snapshot or a backup, and check it", Args: cli.Exactly("FILE|DIR"),
		Long: `inspect reads a backup, or a directory under a node's snapshots, without a cluster. It
shows the cluster and the index, and checks all files against their checksums. It
fails if one does not match.`,
		RunE: func(_ *cobra.Command, args []string) error {
			info, err := snapfile.Inspect(args[0])
			if err != nil {
				return err
			}
			h := info.Header
			chain := fmt.Sprintf("%08x", h.GetChain())
			var g cli.Grid
			g.Add("cluster", h.GetClusterId())
			g.Add("index", fmt.Sprintf("%d (term %d, chain %s)", h.GetIndex(), h.GetTerm(), chain))
			g.Add("time", cli.When(h.GetWallMs()))
			g.Add("feature level", cli.Number(h.GetFeatureLevel()))
			g.Add("format", cli.Number(h.GetFormat()))
			g.Add("files", fmt.Sprintf("%d, %d bytes", len(h.GetFiles()), info.Bytes))
			g.Add("complete", kit.Yes(len(info.Damages) == 0))
			err = a.Print(snapshotDoc{
				ClusterID: h.GetClusterId(), Index: h.GetIndex(), Term: h.GetTerm(), Time: h.GetWallMs(), TickMS: h.GetTickMs(), Chain: chain,
				FeatureLevel: h.GetFeatureLevel(), Format: h.GetFormat(), Files: len(h.GetFiles()), Bytes: info.Bytes,
				Damages: append([]string{}, info.Damages...),
			}, g)
			if err == nil && len(info.Damages) > 0 {
				return fmt.Errorf("%s is damaged: %s", args[0], strings.Join(info.Damages, "; "))
			}
			return err
		},
	}
}
