package transfer

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/proto/snapfile"
)

func (a commands) snapshotCommand() *cobra.Command {
	return cli.Group("snapshot", "Inspect snapshots and backups offline", a.snapshotInspect())
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

func (a commands) snapshotInspect() *cobra.Command {
	return &cobra.Command{
		Use: "inspect FILE|DIR", Short: "Show the header of a snapshot or a backup, and verify its checksums", Args: cli.Exactly("FILE|DIR"),
		Long: `inspect reads a backup, or a directory under a node's snapshots, without a
cluster. It shows the cluster and the index of the snapshot, and verifies the
checksums of all files. It fails if one does not match.`,
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
			g.Add("whole", kit.Yes(len(info.Damages) == 0))
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
