package stores

import (
	"context"
	"iter"

	"dormouse/agent"
	"dormouse/client"
)

// FileStore stores files by path: see agent.ValidFilePath. Bytes are stored unchanged.
// A missing file is agent.ErrNotFound, an invalid path agent.ErrInvalid.
type FileStore interface {
	// Read reads a file.
	Read(ctx context.Context, path string) (*File, error)

	// Write writes a whole file over any existing one, and returns its new revision.
	// Nil Metadata keeps the current metadata.
	Write(ctx context.Context, file File) (revision uint64, err error)

	// Move moves a file atomically; already_exists if the new path exists.
	Move(ctx context.Context, from, to string) error

	// UpdateMetadata merges a patch (RFC 7396) into a file's metadata.
	UpdateMetadata(ctx context.Context, path string, patch agent.JSON) error

	// Delete deletes a file; deleting a missing one succeeds.
	Delete(ctx context.Context, path string) error

	// List yields the files whose paths begin with prefix, without their bytes, in
	// path order. An error is the last element.
	List(ctx context.Context, prefix string) iter.Seq2[File, error]
}

// File is a file at a path. Writes use only Path, ContentType, Bytes and Metadata.
type File struct {
	Path        string
	ContentType string
	Bytes       []byte
	Size        uint64
	Metadata    agent.JSON // an object
	Revision    uint64
	UpdatedAt   int64 // Unix ms
}

// Files implements FileStore with a scope.
type Files struct{ Scope client.Scope }

var _ FileStore = Files{}

// Read implements FileStore.
func (f Files) Read(ctx context.Context, path string) (*File, error) {
	key, err := agent.FileKey(path)
	if err != nil {
		return nil, err
	}
	v, err := f.Scope.GetValue(ctx, key)
	if err != nil {
		return nil, err
	}
	return &File{
		Path: path, ContentType: v.ContentType, Bytes: v.Bytes, Size: uint64(len(v.Bytes)), Metadata: v.Metadata,
		Revision: v.Revision, UpdatedAt: v.UpdatedAt,
	}, nil
}

// Write implements FileStore.
func (f Files) Write(ctx context.Context, file File) (uint64, error) {
	key, err := agent.FileKey(file.Path)
	if err != nil {
		return 0, err
	}
	done, err := f.Scope.PutValue(ctx, agent.PutValue{Key: key, ContentType: file.ContentType, Bytes: file.Bytes, Metadata: file.Metadata})
	if err != nil {
		return 0, err
	}
	return done.Revision, nil
}

// Move implements FileStore.
func (f Files) Move(ctx context.Context, from, to string) error {
	key, err := agent.FileKey(from)
	if err != nil {
		return err
	}
	target, err := agent.FileKey(to)
	if err != nil {
		return err
	}
	_, err = f.Scope.ReviseValue(ctx, agent.ReviseValue{Key: key, To: target})
	return err
}

// UpdateMetadata implements FileStore.
func (f Files) UpdateMetadata(ctx context.Context, path string, patch agent.JSON) error {
	key, err := agent.FileKey(path)
	if err != nil {
		return err
	}
	_, err = f.Scope.ReviseValue(ctx, agent.ReviseValue{Key: key, Metadata: patch})
	return err
}

// Delete implements FileStore.
func (f Files) Delete(ctx context.Context, path string) error {
	key, err := agent.FileKey(path)
	if err != nil {
		return err
	}
	_, err = f.Scope.DeleteValue(ctx, agent.DeleteValue{Key: key})
	return err
}

// List implements FileStore.
func (f Files) List(ctx context.Context, prefix string) iter.Seq2[File, error] {
	return pages(agent.FilePrefix(prefix), func(page agent.Page) ([]File, string, error) {
		list, err := f.Scope.ListValues(ctx, page)
		if err != nil {
			return nil, "", err
		}
		files := make([]File, 0, len(list.Items))
		for _, row := range list.Items {
			if path, ok := agent.FilePath(row.Key); ok {
				files = append(files, File{
					Path: path, ContentType: row.ContentType, Size: row.Size, Metadata: row.Metadata, Revision: row.Revision, UpdatedAt: row.UpdatedAt,
				})
			}
		}
		return files, list.Next, nil
	})
}
