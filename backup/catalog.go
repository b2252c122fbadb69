package backup

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"dormouse/backup/blob"
)

// Catalog reads and writes the objects of one cluster at a destination. Its methods may be called
// concurrently.
type Catalog struct {
	Store      blob.Store
	Cluster    string // the cluster's id
	Trust      Trust
	Identities Identities
}

// Clusters returns the ids of the clusters that have objects at a destination.
func Clusters(ctx context.Context, s blob.Store) ([]string, error) {
	dirs, err := s.Dirs(ctx)
	if err != nil {
		return nil, err
	}
	var all []string
	for _, cluster := range dirs {
		for _, part := range []string{backupsDir, logDir} {
			objects, err := s.List(ctx, cluster+part)
			if err != nil && !errors.Is(err, blob.ErrTooMany) {
				return nil, err
			}
			if len(objects) > 0 {
				all = append(all, cluster)
				break
			}
		}
	}
	return all, nil
}

// Contents is what a destination holds of a cluster.
type Contents struct {
	Backups  []Manifest   // whole ones, the oldest first
	Segments []SegmentRef // in the order of their first entries
	// Unfinished are the names of backups without a manifest.
	Unfinished []string
	// Foreign are the names of backups whose manifests are whole, and signed by a key that is not trusted, with
	// errors that name it. They are neither used nor removed.
	Foreign map[string]error
	// Damages are the names of backups whose manifests cannot be used for other reasons, which they have.
	Damages map[string]error
	// Stored is the size of the backups and the segments.
	Stored int64
}

// Named returns the whole backups and the foreign ones, in the order of their names. Of the latter it has what the
// names say.
func (c Contents) Named() []Manifest {
	all := slices.Clone(c.Backups)
	for name := range c.Foreign {
		at := Began(name).UnixMilli()
		all = append(all, Manifest{Name: name, Index: indexOf(name), Time: at, StartedAt: at})
	}
	sortByName(all)
	return all
}

func sortByName(all []Manifest) {
	slices.SortFunc(all, func(a, b Manifest) int { return strings.Compare(a.Name, b.Name) })
}

// List returns what the destination holds. It reads each manifest.
func (c *Catalog) List(ctx context.Context) (Contents, error) {
	out, err := c.ListBackups(ctx)
	if err != nil {
		return out, err
	}
	out.Segments, err = c.segments(ctx)
	for _, s := range out.Segments {
		out.Stored += s.Bytes
	}
	return out, err
}

// ListBackups is List without the segments.
func (c *Catalog) ListBackups(ctx context.Context) (Contents, error) {
	out := Contents{Foreign: map[string]error{}, Damages: map[string]error{}}
	objects, err := c.Store.List(ctx, c.Cluster+backupsDir)
	if err != nil {
		return out, err
	}
	whole := map[string]bool{} // :: name of a backup → it has a manifest
	for _, o := range objects {
		out.Stored += o.Size
		rest, ok := strings.CutPrefix(o.Name, c.Cluster+backupsDir)
		name, file, _ := strings.Cut(rest, "/")
		if _, named := began(name); ok && named {
			whole[name] = whole[name] || "/"+file == manifestFile
		}
	}
	for name, has := range whole {
		if !has {
			out.Unfinished = append(out.Unfinished, name)
			continue
		}
		switch m, err := c.Manifest(ctx, name); {
		case err == nil:
			out.Backups = append(out.Backups, m)
		case errors.Is(err, blob.ErrNotFound): // deleted meanwhile
		case errors.Is(err, ErrSignature):
			out.Foreign[name] = err
		case errors.Is(err, ErrDocument):
			out.Damages[name] = err
		default:
			return out, err
		}
	}
	slices.Sort(out.Unfinished)
	sortByName(out.Backups)
	return out, nil
}

// ErrDocument is wrapped by the error of a document that was read, and cannot be trusted.
var ErrDocument = errors.New("it cannot be used")

// document reads a signed document. The error wraps ErrDocument if the object itself is wrong.
func (c *Catalog) document(ctx context.Context, object string, into any) (key string, err error) {
	raw, err := c.read(ctx, object, documentBytesMax)
	if err != nil {
		return "", err
	}
	if key, err = c.Trust.open(raw, into); err != nil {
		return "", fmt.Errorf("%s: %w: %w", object, ErrDocument, err)
	}
	return key, nil
}

func (c *Catalog) read(ctx context.Context, object string, bytesMax int64) ([]byte, error) {
	r, err := c.Store.Get(ctx, object)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(r, bytesMax+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", object, err)
	}
	if int64(len(raw)) > bytesMax {
		return nil, fmt.Errorf("%s: %w: it has more than %d bytes", object, ErrDocument, bytesMax)
	}
	return raw, nil
}

// Manifest reads the manifest of a backup.
func (c *Catalog) Manifest(ctx context.Context, name string) (m Manifest, err error) {
	object := c.Cluster + backupsDir + name + manifestFile
	if m.Key, err = c.document(ctx, object, &m); err != nil {
		return m, err
	}
	if err := m.check(c.Cluster, name); err != nil {
		return m, fmt.Errorf("%s: %w: %w", object, ErrDocument, err)
	}
	return m, nil
}

// PutManifest stores the manifest of a backup, after which List returns it, and reads it back.
func (c *Catalog) PutManifest(ctx context.Context, key ed25519.PrivateKey, m Manifest) error {
	m.Format, m.ClusterID = format, c.Cluster
	if err := m.check(c.Cluster, m.Name); err != nil {
		return fmt.Errorf("the manifest of backup %s: %w", m.Name, err)
	}
	return c.putDocument(ctx, key, c.Cluster+backupsDir+m.Name+manifestFile, m)
}

func (c *Catalog) putDocument(ctx context.Context, key ed25519.PrivateKey, object string, document any) error {
	line, err := sign(key, document)
	if err != nil {
		return fmt.Errorf("write %s: %w", object, err)
	}
	return c.putChecked(ctx, object, line)
}

// putChecked stores an object and reads it back.
func (c *Catalog) putChecked(ctx context.Context, object string, content []byte) error {
	if err := c.Store.Put(ctx, object, bytes.NewReader(content), int64(len(content))); err != nil {
		return err
	}
	again, err := c.read(ctx, object, int64(len(content)))
	if err != nil {
		return err
	}
	if !bytes.Equal(again, content) {
		return fmt.Errorf("%s was read back with other bytes than were written: the destination damages objects", object)
	}
	return nil
}

// Head returns how far the log has been shipped. The error wraps blob.ErrNotFound if it never was.
func (c *Catalog) Head(ctx context.Context) (h Head, err error) {
	object := c.Cluster + headFile
	if _, err = c.document(ctx, object, &h); err != nil {
		return h, err
	}
	if h.Format != format || h.ClusterID != c.Cluster {
		return h, fmt.Errorf("%s: %w: it is of format %d and of cluster %q", object, ErrDocument, h.Format, h.ClusterID)
	}
	return h, nil
}

// PutSegment stores a segment, and then the head that names it.
func (c *Catalog) PutSegment(ctx context.Context, key ed25519.PrivateKey, to Recipients, w *SegmentWriter) (SegmentRef, error) {
	ref, content, err := w.Encode(key, to)
	if err != nil {
		return ref, fmt.Errorf("encode a segment: %w", err)
	}
	if err := c.putChecked(ctx, ref.object(c.Cluster), content); err != nil {
		return ref, err
	}
	h := w.Head()
	head := Head{Format: format, ClusterID: c.Cluster, To: h.To, Chain: h.Chain, Time: h.Time, Node: h.Node}
	return ref, c.putDocument(ctx, key, c.Cluster+headFile, head)
}

// Segment reads a segment whole, and verifies it.
func (c *Catalog) Segment(ctx context.Context, ref SegmentRef) (*Segment, error) {
	object := ref.object(c.Cluster)
	r, err := c.Store.Get(ctx, object)
	if err != nil {
		return nil, err
	}
	defer r.Close() //nolint:errcheck // it was only read
	s, err := decodeSegment(r, c.Trust, c.Identities)
	if err != nil {
		return nil, fmt.Errorf("segment %s: %w", object, err)
	}
	if s.ClusterID != c.Cluster || s.From != ref.From || s.To != ref.To {
		return nil, fmt.Errorf("segment %s holds the entries %d to %d of cluster %s: it was moved", object, s.From, s.To, s.ClusterID)
	}
	return s, nil
}

// PutState stores the state of a backup, encrypted. size is about how many bytes r returns.
func (c *Catalog) PutState(ctx context.Context, name string, r io.Reader, size int64) error {
	return c.Store.Put(ctx, c.Cluster+backupsDir+name+stateFile, r, size)
}

// State opens the state of a backup, decrypted. At its end, the reader compares the size and the
// SHA-256 of the object with the manifest, and returns an error instead of io.EOF if they differ.
func (c *Catalog) State(ctx context.Context, m Manifest) (io.ReadCloser, error) {
	object := c.Cluster + backupsDir + m.Name + stateFile
	stored, err := c.Store.Get(ctx, object)
	if errors.Is(err, blob.ErrNotFound) {
		return nil, fmt.Errorf("backup %s has a manifest and no state: it is incomplete: %w", m.Name, err)
	}
	if err != nil {
		return nil, err
	}
	checked := newChecked(stored, object, m.Bytes, m.SHA256)
	plain, err := c.Identities.Open(checked, m.Encrypted)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("backup %s: %w", m.Name, err), stored.Close())
	}
	return &state{plain: plain, checked: checked, Closer: stored}, nil
}

// Delete removes a backup. The manifest goes first, so that what is left is never taken for a whole
// backup.
func (c *Catalog) Delete(ctx context.Context, name string) error {
	if err := c.Store.Delete(ctx, c.Cluster+backupsDir+name+manifestFile); err != nil {
		return err
	}
	return c.Store.Delete(ctx, c.Cluster+backupsDir+name+stateFile)
}

// DeleteSegment removes a segment.
func (c *Catalog) DeleteSegment(ctx context.Context, s SegmentRef) error {
	return c.Store.Delete(ctx, s.object(c.Cluster))
}
