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
type bucket struct{ *blob.Bucket }

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
	return bucket{b}, nil
}

// Put implements store.Store. The provider shows an object once it is complete.
func (b bucket) Put(ctx context.Context, name string, r io.Reader) error {
	ctx, abort := context.WithCancel(ctx)
	defer abort()
	w, err := b.NewWriter(ctx, name, &blob.WriterOptions{ContentType: "application/octet-stream"})
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
		if all = append(all, store.Object{Name: o.Key, Size: o.Size}); len(all) > store.ObjectsMax {
			return nil, fmt.Errorf("there are more than %d objects", store.ObjectsMax)
		}
	}
	slices.SortFunc(all, func(a, b store.Object) int { return strings.Compare(a.Name, b.Name) })
	return all, nil
}

// Delete implements store.Store.
func (b bucket) Delete(ctx context.Context, name string) error {
	err := b.Bucket.Delete(ctx, name)
	if gcerrors.Code(err) == gcerrors.NotFound {
		return nil
	}
	return err
}
