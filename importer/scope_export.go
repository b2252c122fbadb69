package importer

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"

	"dormouse/agent"
)

// ExportScope writes all rows of a scope at one index to w, as a scope file. After an error discard what it wrote.
func ExportScope(ctx context.Context, s ScopeStore, w io.Writer, o ScopeOptions) (ScopeSummary, error) {
	summary, _, err := exportOnce(ctx, s, w, o.withDefaults())
	return summary, err
}

// ScopeOutput is a file that ExportScopeTo writes; an *os.File is one.
type ScopeOutput interface {
	io.WriteSeeker
	Truncate(size int64) error
}

// ExportScopeTo is ExportScope to a file that it can empty. If the node that reads the rows stops, it empties the file
// and exports again from another node: all of it, at a later index, because only that node had the rows at the first
// index. It calls again with the error first, if again is not nil.
func ExportScopeTo(ctx context.Context, s ScopeStore, file ScopeOutput, o ScopeOptions, again func(error)) (ScopeSummary, error) {
	o = o.withDefaults()
	return wholeAttempts(ctx, again, func() (ScopeSummary, int, error) {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return ScopeSummary{}, 0, fmt.Errorf("begin the scope file: %w", err)
		}
		if err := file.Truncate(0); err != nil {
			return ScopeSummary{}, 0, fmt.Errorf("empty the scope file: %w", err)
		}
		buffered := bufio.NewWriterSize(file, scopeBufferBytes)
		summary, rows, err := exportOnce(ctx, s, buffered, o)
		if err == nil {
			err = buffered.Flush()
		}
		if err != nil {
			o.Progress(-rows)
		}
		return summary, rows, err
	})
}

const (
	// scopeAttempts bounds how often one export or verification reads a scope: a restart of each node of a cluster of
	// five, one after the other, breaks at most four.
	scopeAttempts = 6

	scopeBufferBytes = 1 << 20 // of what is written to a file at once
)

// wholeAttempts makes attempts, which return how many rows came, until one does not end because its node stopped. The
// store has repeated an attempt without rows by itself.
func wholeAttempts(ctx context.Context, again func(error), attempt func() (ScopeSummary, int, error)) (ScopeSummary, error) {
	for n := 1; ; n++ {
		summary, rows, err := attempt()
		if err == nil || rows == 0 || n == scopeAttempts || ctx.Err() != nil || !agent.Retryable(err) {
			return summary, err
		}
		if again != nil {
			again(err)
		}
	}
}

// exportOnce exports from one node. It returns how many rows came.
func exportOnce(ctx context.Context, s ScopeStore, w io.Writer, o ScopeOptions) (summary ScopeSummary, rows int, err error) {
	digest := newRowDigest()
	if _, err := io.WriteString(w, scopeMagic); err != nil {
		return summary, 0, fmt.Errorf("write the scope file: %w", err)
	}
	err = s.ExportScope(ctx, o.Scope, func(part agent.ScopePart) error {
		if h := part.Header; h != nil {
			if h.Import != "" {
				return fmt.Errorf("scope %q is being imported (import %q): wait until the import has ended", o.Scope, h.Import)
			}
			summary.Header = headerOf(h)
			return writeJSONFrame(w, frameHeader, summary.Header)
		}
		n, err := digest.add(part.Rows)
		if err != nil {
			return fmt.Errorf("the node sent damaged rows: %w", err)
		}
		rows += n
		o.Progress(n)
		return writeFrame(w, frameRows, part.Rows)
	})
	if err != nil {
		return summary, rows, err
	}
	if summary.Header.Format == 0 {
		return summary, rows, errors.New("the node sent no header: it may be of an older version")
	}
	summary.Footer = digest.footer()
	return summary, rows, writeJSONFrame(w, frameFooter, summary.Footer)
}
