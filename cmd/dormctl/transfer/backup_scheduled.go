package transfer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"dormouse/agent/layout"
	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
)

func backupList(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "ls", Short: "List the scheduled backups, and show how far the log was shipped", Args: cli.Exactly(),
		Long: `ls shows what the leader knows of the scheduled backups (backup.url): the whole
backups at the destination, how far the log was shipped, and what went wrong. The
public key verifies backups without the cluster; keep it with the age identity.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.With(cmd, func(ctx context.Context, s kit.Store) error {
				all, err := s.Backups(ctx)
				if err != nil {
					return err
				}
				return printBackups(a, all)
			})
		},
	}
}

func printBackups(a *kit.App, all layout.Backups) error {
	if a.Output != kit.OutputTable {
		return a.Print(document.BackupsOf(all), cli.Grid{})
	}
	s := all.Status
	var g cli.Grid
	g.Add("destination", s.URL)
	g.Add("leader", s.Node)
	g.Add("public key", s.PublicKey)
	g.Add("encrypted", kit.Yes(s.Encrypted))
	g.Add("stored", cli.Number(all.StoredBytes)+" bytes")
	for _, row := range kit.BackupRows(s) {
		g.Add(row[0], row[1])
	}
	if all.Unfinished > 0 {
		g.Add("unfinished", cli.Number(all.Unfinished))
	}
	for _, damage := range all.Damages {
		g.Add("not usable", damage)
	}
	if err := a.PrintGrid(g); err != nil {
		return err
	}
	list := cli.Grid{Head: []string{"name", "node", "index", "time", "bytes", "encrypted", "verified", "state hash"}, Apart: true}
	for _, b := range all.Backups {
		list.Add(b.Name, b.Node, cli.Number(b.Index), cli.When(b.Time), cli.Number(b.Bytes), kit.Yes(b.Encrypted), cli.When(b.VerifiedAt), fmt.Sprintf("%.16s", b.StateHash))
	}
	return a.PrintGrid(list)
}

func backupNow(a *kit.App) *cobra.Command {
	return &cobra.Command{
		Use: "now", Short: "Take a scheduled backup now, and verify it", Args: cli.Exactly(),
		Long: `now makes the leader take a backup to the destination (backup.url), restore it
again, and compare the states. The backup goes on if dormctl is interrupted.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error {
				bars := &phases{app: a}
				b, err := s.TakeBackup(ctx, bars.show)
				bars.end()
				if err != nil {
					return err
				}
				var g cli.Grid
				g.Add("backup", b.Name)
				g.Add("index", cli.Number(b.Index))
				g.Add("time", cli.When(b.Time))
				g.Add("bytes", cli.Number(b.Bytes))
				g.Add("state hash", b.StateHash)
				return a.Print(document.BackupOf(b), g)
			})
		},
	}
}

// phases shows the progress of a backup: a bar for each phase.
type phases struct {
	app   *kit.App
	phase string
	done  int64
	bar   *cli.Progress
}

func (p *phases) show(now layout.BackupProgress) {
	const unit = 1 << 10
	if p.bar == nil || p.phase != now.Phase {
		p.end()
		p.phase, p.done = now.Phase, 0
		p.bar = cli.NewProgress(p.app.Stderr, p.app.Terminal, "the leader "+now.Phase+" the backup", int(now.Total/unit), "KiB")
	}
	if n := now.Done/unit - p.done; n > 0 {
		p.done += n
		p.bar.Add(int(n))
	}
}

func (p *phases) end() {
	if p.bar != nil {
		p.bar.End()
		p.bar = nil
	}
}

// verifyFlags are the flags of "dormoused verify" that take a value.
var verifyFlags = []struct{ name, usage string }{
	{"cluster", "id of the cluster whose backups to verify (default: the only one there)"},
	{"blob-program", "path of dormblob, for other URLs than file:// (default: beside dormoused, or in $PATH)"},
}

var verifyLists = []struct{ name, usage string }{
	{"public-key", "public key whose signatures to trust, as \"dormctl backup ls\" shows it; repeatable"},
	{"trust-key-file", "cluster key file whose signatures to trust; repeatable"},
	{"identity", "file of an age identity that decrypts the backups; repeatable"},
}

func backupVerify(a *kit.App) *cobra.Command {
	var from, daemon string
	var all, anySigner bool
	values, lists := map[string]*string{}, map[string]*[]string{}
	command := &cobra.Command{
		Use: "verify [NAME] --from URL", Short: "Verify scheduled backups: restore them in a temporary directory", Args: cli.Between(0, 1, "[NAME]"),
		Long: `verify restores a backup in a temporary directory ($TMPDIR), compares the hash of all
rows with the one that the node had, and replays the shipped log to its end. It
needs no cluster. NAME is the newest backup if it is left out. verify runs dormoused,
which has the storage engine.`,
		Example: `  dormctl backup verify --from file:///backups --trust-key-file cluster.key
  dormctl backup verify --all --from s3://backups --public-key dormpub_… --identity age.key`,
		RunE: func(cmd *cobra.Command, args []string) error {
			if from == "" {
				return cli.Usagef("backup verify: name the destination of the backups with --from URL")
			}
			run := []string{"verify", "-o", "json", "--from", from}
			if len(args) == 1 {
				run = append(run, "--name", args[0])
			}
			if all {
				run = append(run, "--all")
			}
			if anySigner {
				run = append(run, "--any-signer")
			}
			for _, f := range verifyFlags {
				if *values[f.name] != "" {
					run = append(run, "--"+f.name, *values[f.name])
				}
			}
			for _, f := range verifyLists {
				for _, value := range *lists[f.name] {
					run = append(run, "--"+f.name, value)
				}
			}
			return verify(cmd.Context(), a, daemon, run)
		},
	}
	command.Flags().StringVar(&from, "from", "", "destination of the backups: file:///DIRECTORY, s3://BUCKET, gs://BUCKET or azblob://CONTAINER")
	command.Flags().BoolVar(&all, "all", false, "verify each backup, and the log after the oldest one whose log is kept")
	command.Flags().BoolVar(&anySigner, "any-signer", false, "trust every signature: anyone who can write to the destination may have made the backup")
	command.Flags().StringVar(&daemon, "dormoused", "", "path of dormoused (default: beside dormctl, or in $PATH)")
	for _, f := range verifyFlags {
		values[f.name] = command.Flags().String(f.name, "", f.usage)
	}
	for _, f := range verifyLists {
		lists[f.name] = command.Flags().StringArray(f.name, nil, f.usage)
	}
	return command
}

// verified is what "dormoused verify -o json" prints.
type verified struct {
	ClusterID   string   `json:"cluster_id"`
	Backup      string   `json:"backup"`
	Index       uint64   `json:"index"`
	Time        int64    `json:"time"`
	Segments    int      `json:"segments"`
	Entries     int      `json:"entries"`
	StateHash   string   `json:"state_hash"`
	Backups     int      `json:"backups"`
	ShippedTo   uint64   `json:"shipped_to,omitempty"`
	ShippedTime int64    `json:"shipped_time,omitempty"`
	Checked     []string `json:"checked"`
}

// verify runs dormoused, and prints what it has found.
func verify(ctx context.Context, a *kit.App, daemon string, args []string) error {
	if daemon == "" {
		daemon = "dormoused"
		if own, err := os.Executable(); err == nil {
			if path := filepath.Join(filepath.Dir(own), "dormoused"); isFile(path) {
				daemon = path
			}
		}
	}
	cmd := exec.CommandContext(ctx, daemon, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = a.Stderr
	out, err := cmd.Output()
	var ended *exec.ExitError
	switch {
	case errors.As(err, &ended) && ended.ExitCode() == kit.ExitUsage:
		return cli.Usagef("dormoused %s: it refuses these flags", strings.Join(args, " "))
	case err != nil && ctx.Err() != nil:
		return interrupted(ctx, err, "nothing was changed")
	case errors.As(err, &ended):
		// It is damaged, or it cannot be read, or no key was given: dormoused says which.
		return errors.New("the backups are not verified: see above")
	case err != nil:
		return fmt.Errorf("run dormoused, which restores the backups: %w: install it beside dormctl, or name it with --dormoused", err)
	}
	var found verified
	if err := json.Unmarshal(out, &found); err != nil {
		return fmt.Errorf("read what dormoused prints: %w", err)
	}
	var g cli.Grid
	g.Add("cluster", found.ClusterID)
	g.Add("verified", fmt.Sprintf("%s of %s: %s", cli.Number(len(found.Checked)), cli.Count(uint64(found.Backups), "backup"), strings.Join(found.Checked, ", ")))
	g.Add("log", fmt.Sprintf("%s, %s", cli.Count(uint64(found.Segments), "segment"), fmt.Sprintf("%d entries", found.Entries)))
	g.Add("ends at", fmt.Sprintf("entry %d of %s", found.Index, cli.When(found.Time)))
	g.Add("state hash", found.StateHash)
	return a.Print(found, g)
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
