package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// ScopeStore is a store that scopes can be exported from and imported into.
type ScopeStore interface {
	agent.Service
	layout.Operator
}

// ScopeOptions configure the export, import and verification of a scope.
type ScopeOptions struct {
	Scope    string        // "" means agent.DefaultScope; the name in the file is ignored
	GiveUp   time.Duration // time without any answer after which it fails; 0 means 2 min
	Progress func(n int)   // called with the number of further rows, negative if an export begins again; may be nil
}

func (o ScopeOptions) withDefaults() ScopeOptions {
	if o.Scope == "" {
		o.Scope = agent.DefaultScope
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	return o
}

// ScopeSummary is the result of an export, import or verification.
type ScopeSummary struct {
	Header      ScopeFileHeader
	Footer      ScopeFileFooter
	Resumed     uint64 // chunks that an earlier run of the import had applied
	Differences Differences
}

// readScopeFile reads and checks a scope file, and calls handle for each chunk.
func readScopeFile(open func() (io.ReadCloser, error), handle func(f *ScopeFile, position uint64, chunk []byte) error) (summary ScopeSummary, err error) {
	file, err := open()
	if err != nil {
		return summary, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	f, err := OpenScopeFile(file)
	if err != nil {
		return summary, err
	}
	summary.Header = f.Header
	for position := uint64(0); ; position++ {
		chunk, err := f.Next()
		if errors.Is(err, io.EOF) {
			summary.Footer = f.Footer
			return summary, nil
		}
		if err == nil && handle != nil {
			err = handle(f, position, chunk)
		}
		if err != nil {
			return summary, err
		}
	}
}

// CheckScopeFile reads and checks a scope file. open is called once.
func CheckScopeFile(open func() (io.ReadCloser, error)) (ScopeSummary, error) {
	return readScopeFile(open, nil)
}

// ImportScope imports a scope file into an empty scope, or continues an
// interrupted import of the same file. It compares all rows with the file
// before it opens the scope. open is called several times.
func ImportScope(ctx context.Context, s ScopeStore, open func() (io.ReadCloser, error), o ScopeOptions) (ScopeSummary, error) {
	o = o.withDefaults()
	summary, err := CheckScopeFile(open) // check the whole file before the first write
	if err != nil {
		return summary, err
	}
	if err := checkFeatureLevel(ctx, s, summary.Header); err != nil {
		return summary, err
	}
	var counted counters
	i := &scopeImport{client: newRetryClient(s, o.Scope, o.GiveUp, &counted), id: "import:" + summary.Footer.Digest}
	started, err := i.step(ctx, &agent.ImportScope{Scope: summary.Header.scope(), Minted: summary.Header.Minted})
	if err != nil {
		return summary, err
	}
	summary.Resumed = started.Chunks
	if !started.Done {
		_, err = readScopeFile(open, func(_ *ScopeFile, position uint64, chunk []byte) error {
			if position >= started.Chunks {
				if _, err := i.step(ctx, &agent.ImportScope{Chunk: position, Rows: chunk}); err != nil {
					return err
				}
			}
			o.Progress(countRows(chunk))
			return nil
		})
		if err != nil {
			return summary, err
		}
	}
	verified, err := verifyScope(ctx, s, open, ScopeOptions{Scope: o.Scope, GiveUp: o.GiveUp}.withDefaults(), i.id)
	summary.Differences = verified.Differences
	if err != nil || started.Done {
		return summary, err
	}
	if d := summary.Differences; d.Count > 0 {
		return summary, fmt.Errorf("the imported rows differ from the file in %d places, first: %s; the scope stays closed: delete it and import again", d.Count, d.First[0])
	}
	for done := false; !done; {
		result, err := i.step(ctx, &agent.ImportScope{Finish: true})
		if err != nil {
			return summary, err
		}
		done = result.Done
	}
	return summary, nil
}

func countRows(chunk []byte) (n int) {
	for rest := chunk; len(rest) > 0; n++ {
		var err error
		if _, rest, err = agent.NextScopeRow(rest); err != nil {
			return n
		}
	}
	return n
}

// checkFeatureLevel refuses a file of another feature level than the target's.
func checkFeatureLevel(ctx context.Context, s ScopeStore, h ScopeFileHeader) error {
	status, err := s.Status(ctx)
	if err != nil {
		return err
	}
	if status.FeatureLevel != h.FeatureLevel {
		return fmt.Errorf("the scope was exported at feature level %d, and this cluster is at %d: bring both clusters to one version, and export again",
			h.FeatureLevel, status.FeatureLevel)
	}
	return nil
}

type scopeImport struct {
	client *retryClient
	id     string
}

func (i *scopeImport) step(ctx context.Context, op *agent.ImportScope) (*agent.ImportResult, error) {
	op.ID = i.id
	result, err := i.client.result(ctx, op)
	if err != nil {
		return nil, err
	}
	out, ok := result.(*agent.ImportResult)
	if !ok {
		return nil, fmt.Errorf("an import is answered with %T", result)
	}
	return out, nil
}

// VerifyScope compares a scope with a scope file row by row, and lists the
// first keys that differ.
func VerifyScope(ctx context.Context, s ScopeStore, open func() (io.ReadCloser, error), o ScopeOptions) (ScopeSummary, error) {
	return verifyScope(ctx, s, open, o.withDefaults(), "")
}

// verifyScope is VerifyScope of a scope whose import may be in progress. It compares again if the node that reads the
// rows stops.
func verifyScope(ctx context.Context, s ScopeStore, open func() (io.ReadCloser, error), o ScopeOptions, importing string) (ScopeSummary, error) {
	return wholeAttempts(ctx, nil, func() (ScopeSummary, int, error) {
		var came atomic.Int64
		compared := 0
		once := o
		once.Progress = func(n int) {
			compared += n
			o.Progress(n)
		}
		summary, err := verifyOnce(ctx, s, open, once, importing, &came)
		if err != nil {
			o.Progress(-compared)
		}
		return summary, int(came.Load()), err
	})
}

// verifyOnce is verifyScope with one node. It counts the rows that come from the node, which may end before any of them
// is compared.
func verifyOnce(
	ctx context.Context, s ScopeStore, open func() (io.ReadCloser, error), o ScopeOptions, importing string, came *atomic.Int64,
) (ScopeSummary, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stored := make(chan agent.ScopeRow, 64)
	failed := make(chan error, 1)
	var header *agent.ScopeHeader
	started := make(chan struct{})
	go func() {
		defer close(stored)
		failed <- s.ExportScope(ctx, o.Scope, func(part agent.ScopePart) error {
			if part.Header != nil {
				header = part.Header
				close(started)
				return nil
			}
			for rest := part.Rows; len(rest) > 0; {
				var row agent.ScopeRow
				var err error
				if row, rest, err = agent.NextScopeRow(rest); err != nil {
					return fmt.Errorf("the node sent damaged rows: %w", err)
				}
				came.Add(1)
				select {
				case stored <- row:
				case <-ctx.Done():
					return ctx.Err()
				}
			}
			return nil
		})
	}()
	select {
	case <-started:
	case err := <-failed: // a small scope may have come whole by now
		if err == nil && header == nil {
			err = errors.New("the node sent nothing of the scope")
		}
		if err != nil {
			return ScopeSummary{}, err
		}
		failed <- nil
	}
	c := &comparison{stored: stored, progress: o.Progress}
	summary, err := readScopeFile(open, func(_ *ScopeFile, _ uint64, chunk []byte) error { return c.chunk(chunk) })
	if err != nil {
		return summary, err
	}
	c.finish()
	if err := <-failed; err != nil {
		return summary, err
	}
	if header.Import != "" && header.Import != importing {
		return summary, fmt.Errorf("scope %q is being imported (import %q): wait until the import has ended", o.Scope, header.Import)
	}
	summary.Header.compare(headerOf(header), &c.differences)
	summary.Differences = c.differences
	return summary, nil
}

// comparison compares sorted rows.
type comparison struct {
	stored      <-chan agent.ScopeRow
	next        *agent.ScopeRow // the next stored row, if it was received
	differences Differences
	progress    func(int)
}

// peek returns the next stored row, or nil at the end.
func (c *comparison) peek() *agent.ScopeRow {
	if c.next == nil {
		if row, ok := <-c.stored; ok {
			c.next = &row
		}
	}
	return c.next
}

func (c *comparison) chunk(chunk []byte) error {
	n := 0
	for rest := chunk; len(rest) > 0; n++ {
		var want agent.ScopeRow
		var err error
		if want, rest, err = agent.NextScopeRow(rest); err != nil {
			return err
		}
		for c.peek() != nil && bytes.Compare(c.next.Key, want.Key) < 0 {
			c.differences.add("row %q is in the scope and not in the file", c.next.Key)
			c.next = nil
		}
		switch have := c.peek(); {
		case have == nil || !bytes.Equal(have.Key, want.Key):
			c.differences.add("row %q is in the file and not in the scope", want.Key)
			continue
		case !bytes.Equal(have.Value, want.Value):
			c.differences.add("row %q differs from the file", want.Key)
		}
		c.next = nil
	}
	c.progress(n)
	return nil
}

// finish adds the stored rows after the last one of the file.
func (c *comparison) finish() {
	for ; c.peek() != nil; c.next = nil {
		c.differences.add("row %q is in the scope and not in the file", c.next.Key)
	}
}
