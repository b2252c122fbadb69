package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"dormouse/agent"
)

// ExportOptions say what is exported.
type ExportOptions struct {
	Scope    string        // "" means agent.DefaultScope
	Prefix   string        // only names that begin so
	GiveUp   time.Duration // when nothing has been answered for so long; 0 means 2 min
	Progress func(n int)   // told of n more records; nil means nobody
}

// Export writes all values, checkpoints and threads of a scope to w, as
// Records. It is not one instant: each thread and checkpoint is as it was when
// it was read. Checkpoints are read before threads, so every pointer is into
// entries that the export holds, unless a thread is deleted meanwhile.
func Export(ctx context.Context, s agent.Service, w io.Writer, o ExportOptions) (EndRecord, error) {
	if o.Scope == "" {
		o.Scope = agent.DefaultScope
	}
	if o.Progress == nil {
		o.Progress = func(int) {}
	}
	e := &exporter{
		session: newSession(s, o.Scope, o.GiveUp, &counters{}), prefix: o.Prefix, progress: o.Progress,
		encoder: jsontext.NewEncoder(w, jsontext.PreserveRawStrings(true)),
	}
	if err := e.write(Record{Export: &ExportRecord{Format: recordFormat, Scope: o.Scope}}); err != nil {
		return EndRecord{}, err
	}
	for _, part := range []func(context.Context) error{e.values, e.checkpoints, e.threads} {
		if err := part(ctx); err != nil {
			return e.end, err
		}
	}
	end := e.end
	return end, e.write(Record{End: &end})
}

type exporter struct {
	session  *session
	prefix   string
	progress func(int)
	encoder  *jsontext.Encoder
	end      EndRecord
}

func (e *exporter) write(r Record) error {
	if err := json.MarshalEncode(e.encoder, r); err != nil {
		return fmt.Errorf("write a record: %w", err)
	}
	e.end.count(r)
	e.progress(1)
	return nil
}

// page is a page of a list that starts after a key.
func (e *exporter) page(after string) agent.Page {
	return agent.Page{Prefix: e.prefix, After: after, Limit: agent.ListLimitMax}
}

// list reads the pages of a list: read returns the names on one, and the last
// of them where more follow.
func list(read func(after string) (next string, err error)) error {
	after := ""
	for {
		next, err := read(after)
		if err != nil || next == "" {
			return err
		}
		after = next
	}
}

// ask asks one thing whose answer is of type T.
func ask[T agent.Found](ctx context.Context, s *session, read agent.Read) (T, error) {
	answers, err := s.read(ctx, read)
	if err != nil {
		var none T
		return none, err
	}
	return foundIn[T](answers, 0)
}

func (e *exporter) values(ctx context.Context) error {
	return list(func(after string) (string, error) {
		rows, err := ask[*agent.ValueList](ctx, e.session, &agent.ListValues{Page: e.page(after)})
		if err != nil {
			return "", fmt.Errorf("list values: %w", err)
		}
		for _, row := range rows.Items {
			v, err := ask[*agent.Value](ctx, e.session, &agent.GetValue{Key: row.Key})
			if errors.Is(err, agent.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return "", fmt.Errorf("read value %q: %w", row.Key, err)
			}
			record := &ValueRecord{Key: v.Key, ContentType: v.ContentType, Bytes: v.Bytes, ExpiresAt: v.ExpiresAt}
			if err := e.write(Record{Value: record}); err != nil {
				return "", err
			}
		}
		return rows.Next, nil
	})
}

func (e *exporter) checkpoints(ctx context.Context) error {
	return list(func(after string) (string, error) {
		rows, err := ask[*agent.CheckpointList](ctx, e.session, &agent.ListCheckpoints{Page: e.page(after)})
		if err != nil {
			return "", fmt.Errorf("list checkpoints: %w", err)
		}
		for _, row := range rows.Items {
			c, err := ask[*agent.Checkpoint](ctx, e.session, &agent.GetCheckpoint{Key: row.Key})
			if errors.Is(err, agent.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return "", fmt.Errorf("read checkpoint %q: %w", row.Key, err)
			}
			if err := e.write(Record{Checkpoint: checkpointRecord(c)}); err != nil {
				return "", err
			}
		}
		return rows.Next, nil
	})
}

func (e *exporter) threads(ctx context.Context) error {
	return list(func(after string) (string, error) {
		rows, err := ask[*agent.ThreadList](ctx, e.session, &agent.ListThreads{Page: e.page(after)})
		if err != nil {
			return "", fmt.Errorf("list threads: %w", err)
		}
		for _, row := range rows.Items {
			err := e.thread(ctx, row.ID)
			if errors.Is(err, agent.ErrNotFound) {
				continue // deleted meanwhile
			} else if err != nil {
				return "", fmt.Errorf("read thread %q: %w", row.ID, err)
			}
		}
		return rows.Next, nil
	})
}

// thread writes a thread and its entries, as of the rev of the first page.
func (e *exporter) thread(ctx context.Context, id string) error {
	meta, err := ask[*agent.Thread](ctx, e.session, &agent.GetThread{Thread: id})
	if err != nil {
		return err
	}
	if err := e.write(Record{Thread: threadRecord(*meta)}); err != nil {
		return err
	}
	for from := &meta.Floor; from != nil; {
		page, err := ask[*agent.Entries](ctx, e.session, &agent.LoadEntries{
			Thread: id, From: *from, AtRev: &meta.Rev, Limit: agent.EntriesLimitMax,
		})
		if err != nil {
			return fmt.Errorf("it changed while it was exported; run again: %w", broken(err))
		}
		if page.Thread.Incarnation != meta.Incarnation {
			return errors.New("it was deleted and made anew while it was exported; run again")
		}
		for _, entry := range page.Items {
			if err := e.write(Record{Entry: entryRecord(entry)}); err != nil {
				return err
			}
		}
		from = page.Next
	}
	return nil
}

// broken hides that something was not found: half a thread is no thread that
// is gone.
func broken(err error) error {
	if errors.Is(err, agent.ErrNotFound) {
		return errors.New("it was deleted")
	}
	return err
}
