package doctor

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/renameio/v2"
	"github.com/spf13/cobra"

	"dormouse/api/document"
	"dormouse/cmd/dormctl/kit"
	"dormouse/internal/cli"
	"dormouse/internal/version"
)

// bundleWatch is how long the nodes are looked at for the report.
const bundleWatch = time.Second

// profileTimeout bounds the question for a profile.
const profileTimeout = 90 * time.Second

func bundleCommand(a *kit.App) *cobra.Command {
	var file string
	var cpu int
	cmd := &cobra.Command{
		Use: "support-bundle", Short: "Collect what others need to find a fault, from all nodes, in one archive", Args: cli.Exactly(),
		Long: `support-bundle writes an archive (.tar.gz) with the report of doctor and, of each node,
its status, settings, metrics, history of calls, the end of its log, and profiles of its
memory, goroutines and CPU. It has no data of agents and no secrets: but read the log
before you give it away, since it names scopes and keys.

It leaves out what a node does not answer, and errors.txt says why.`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if cpu < 0 || cpu > 60 {
				return cli.Usagef("--cpu is %d: use 0 to 60 seconds", cpu)
			}
			if file == "" {
				file = "dormouse-support-" + time.Now().UTC().Format("20060102-150405") + ".tar.gz"
			}
			return a.Stream(cmd.Context(), func(ctx context.Context, s kit.Store) error { return bundle(ctx, a, s, file, cpu) })
		},
	}
	cmd.Flags().StringVarP(&file, "file", "f", "", "the archive to write; dormouse-support-TIME.tar.gz by default")
	cmd.Flags().IntVar(&cpu, "cpu", 5, "seconds of CPU profile of each node; 0: none")
	return cmd
}

// bundle writes the archive: whole, or not at all.
func bundle(ctx context.Context, a *kit.App, s kit.Store, file string, cpu int) error {
	f, err := gather(ctx, a, s, bundleWatch, false)
	if err != nil {
		return err
	}
	client, err := kit.NewWeb(a)
	if err != nil {
		return err
	}
	out, err := renameio.NewPendingFile(file, renameio.WithPermissions(0o600))
	if err != nil {
		return fmt.Errorf("create the archive: %w", err)
	}
	defer out.Cleanup() //nolint:errcheck // it removes what was not renamed
	zipped := gzip.NewWriter(out)
	archive := &archive{out: tar.NewWriter(zipped), root: strings.TrimSuffix(filepath.Base(file), ".tar.gz"), now: f.At}
	archive.fill(ctx, a, client, f, cpu)
	if err := errors.Join(archive.err, archive.out.Close(), zipped.Close()); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	if err := out.CloseAtomicallyReplace(); err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	info, err := os.Stat(file)
	if err != nil {
		return fmt.Errorf("write the archive: %w", err)
	}
	doc := struct {
		File   string   `json:"file"`
		Bytes  int64    `json:"bytes"`
		Files  int      `json:"files"`
		Errors []string `json:"errors"`
	}{file, info.Size(), archive.files, append([]string{}, archive.missing...)}
	if a.Output != kit.OutputTable {
		return a.Print(doc, cli.Grid{})
	}
	for _, one := range archive.missing {
		a.Tell("left out: %s", one)
	}
	return a.Write(fmt.Sprintf("%s: %d files, %s\n", file, archive.files, sizeOf(info.Size())))
}

// archive is an archive while it is filled.
type archive struct {
	out     *tar.Writer
	root    string
	now     time.Time
	files   int
	missing []string // what was left out, and why
	err     error    // the first failure to write
}

func (ar *archive) fill(ctx context.Context, a *kit.App, client *kit.Web, f *facts, cpu int) {
	ar.json("doctor.json", examine(f))
	ar.file("dormctl.txt", []byte("dormctl "+version.String()+"\n"))
	for _, n := range f.Nodes {
		if n.Member.Host {
			continue
		}
		if ctx.Err() != nil {
			ar.miss(n.Member.ID, ctx.Err())
			return
		}
		if a.Terminal {
			a.Tell("asking %s", n.Member.ID)
		}
		ar.node(ctx, client, n, cpu)
	}
	if len(ar.missing) > 0 {
		ar.file("errors.txt", []byte(strings.Join(ar.missing, "\n")+"\n"))
	}
}

// node adds what one node tells.
func (ar *archive) node(ctx context.Context, client *kit.Web, n nodeFacts, cpu int) {
	dir := n.Member.ID + "/"
	if n.Status != nil {
		ar.json(dir+"status.json", document.ClusterStatusOf(*n.Status))
	} else {
		ar.miss(dir+"status.json", n.Err)
	}
	files := []struct{ name, path string }{
		{"settings.json", "/v1/cluster/settings"},
		{"metrics.txt", "/metrics"},
		{"history.json", "/v1/cluster/history"},
		{"placement.json", "/v1/placement"},
		{"log.txt", "/v1/cluster/log"},
		{"heap.pprof", "/v1/cluster/profile?profile=heap"},
		{"goroutine.pprof", "/v1/cluster/profile?profile=goroutine"},
	}
	if cpu > 0 {
		files = append(files, struct{ name, path string }{"cpu.pprof", fmt.Sprintf("/v1/cluster/profile?profile=cpu&seconds=%d", cpu)})
	}
	for _, one := range files {
		body, err := client.GetFor(ctx, n.Member.HTTPAddr, one.path, profileTimeout)
		if err != nil {
			ar.miss(dir+one.name, err)
			if n.Status == nil { // it is down: do not wait for each
				return
			}
			continue
		}
		ar.file(dir+one.name, body)
	}
}

func (ar *archive) miss(name string, err error) {
	ar.missing = append(ar.missing, fmt.Sprintf("%s: %v", name, err))
}

func (ar *archive) json(name string, v any) {
	body, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		ar.miss(name, err)
		return
	}
	ar.file(name, append(body, '\n'))
}

func (ar *archive) file(name string, body []byte) {
	if ar.err != nil {
		return
	}
	ar.files++
	ar.err = ar.out.WriteHeader(&tar.Header{Name: ar.root + "/" + name, Mode: 0o600, Size: int64(len(body)), ModTime: ar.now})
	if ar.err == nil {
		_, ar.err = ar.out.Write(body)
	}
}
