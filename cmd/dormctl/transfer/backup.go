package transfer

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/durable"
)

func backupCommand(a *kit.App) *cobra.Command {
	command := &cobra.Command{
		Use: "backup FILE", Short: "Write a consistent backup of all scopes", Args: cli.Exactly("FILE"),
		Long: `backup writes a snapshot of the whole store, all scopes, to FILE, or to stdout
for -. FILE appears only once it is complete. "dormoused restore" creates a new
cluster from it. Write ./ls for a file that is called as a command.

The other commands are about the backups that the leader takes by schedule.`,
		RunE: func(cmd *cobra.Command, args []string) error {
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				if args[0] == "-" {
					return s.Backup(ctx, a.Stdout)
				}
				return backup(ctx, a, s, args[0])
			})
		},
	}
	command.AddCommand(backupList(a), backupNow(a), backupVerify(a))
	return command
}

// finish gives a file that was written its name. After that a power cut does not lose it.
func finish(file *renameio.PendingFile, path string) error {
	if err := file.CloseAtomicallyReplace(); err != nil {
		return err
	}
	return durable.SyncDir(filepath.Dir(path))
}

func backup(ctx context.Context, a *kit.App, s kit.Store, path string) (err error) {
	file, err := renameio.NewPendingFile(path, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("create the backup: %w", err)
	}
	defer func() {
		if cleanup := file.Cleanup(); cleanup != nil && err == nil {
			err = fmt.Errorf("remove the unfinished backup: %w", cleanup)
		}
	}()
	if err := s.Backup(ctx, file); err != nil {
		return err
	}
	if err := finish(file, path); err != nil {
		return fmt.Errorf("finish the backup: %w", err)
	}
	info, err := os.Stat(path)
	if err != nil {
		return fmt.Errorf("look at the backup: %w", err)
	}
	var g cli.Grid
	g.Add("backup", path)
	g.Add("bytes", cli.Number(info.Size()))
	return a.Print(struct {
		File  string `json:"file"`
		Bytes int64  `json:"bytes"`
	}{path, info.Size()}, g)
}
