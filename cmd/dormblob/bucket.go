package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"gocloud.dev/blob"
	_ "gocloud.dev/blob/azureblob" // azblob://
	_ "gocloud.dev/blob/gcsblob"   // gs://
	_ "gocloud.dev/blob/s3blob"    // s3://
	"gocloud.dev/gcerrors"

	store "dormouse/backup/blob"
)

// bucket is a store in a bucket of a cloud provider. The query prefix=DIR/ of its URL is part of
// each object's name there.
type bucket struct {
	*blob.Bucket
	most int // objects of one list
}

// open opens the bucket of a URL, and makes sure that it can be reached.
func open(ctx context.Context, url string) (store.Store, error) {
	b, err := blob.OpenBucket(ctx, url)
	if err != nil {
		return nil, err
	}
	reached, err := b.IsAccessible(ctx)
	if err == nil && !reached {
		err = errors.New("there is no such bucket")
	}
	if err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return bucket{b, store.ObjectsMax}, nil
}

// Put implements store.Store. The provider shows an object once it is complete.
func (b bucket) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	w, err := b.NewWriter(ctx, name, writerOptions(size))
	if err != nil {
		return err
	}
	if _, err := io.Copy(w, r); err != nil {
		abort() // or Close would store a part of it
		_ = w.Close()
		return err
	}
	return w.Close()
}

// Bounds of an upload in parts. S3 takes 10,000 parts of an object, and its library begins with the first ones before it
// knows how many come.
const (
	partBytesDefault = 8 << 20
	partsMax         = 9_000     // the size is an estimate
	partsBytesMax    = 128 << 20 // in memory, for one object; but for one part of a very large one
	partsAtOnce      = 5
)

// writerOptions returns how to store an object of about size bytes: in larger parts than by default, if there would be too many.
func writerOptions(size int64) *blob.WriterOptions {
	o := &blob.WriterOptions{ContentType: "application/octet-stream"}
	if part := (size/partsMax + 1<<20) >> 20 << 20; part > partBytesDefault {
		o.BufferSize = int(part)
		o.MaxConcurrency = int(min(max(partsBytesMax/part, 1), partsAtOnce))
	}
	return o
}

// Get implements store.Store.
func (b bucket) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	r, err := b.NewReader(ctx, name, nil)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil, fmt.Errorf("%s: %w", name, store.ErrNotFound)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// List implements store.Store.
func (b bucket) List(ctx context.Context, prefix string) ([]store.Object, error) {
	var all []store.Object
	for page := b.Bucket.List(&blob.ListOptions{Prefix: prefix}); ; {
		o, err := page.Next(ctx)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		if len(all) == b.most { // providers return them in the order of their names
			return all, store.ErrTooMany
		}
		all = append(all, store.Object{Name: o.Key, Size: o.Size})
	}
	slices.SortFunc(all, func(a, b store.Object) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Dirs implements store.Store.
func (b bucket) Dirs(ctx context.Context) ([]string, error) {
	var all []string
	for page := b.Bucket.List(&blob.ListOptions{Delimiter: "/"}); ; {
		o, err := page.Next(ctx)
		if errors.Is(err, io.EOF) {
			slices.Sort(all)
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		if o.IsDir {
			all = append(all, strings.TrimSuffix(o.Key, "/"))
		}
	}
}

// Delete implements store.Store.
func (b bucket) Delete(ctx context.Context, name string) error {
	err := b.Bucket.Delete(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
