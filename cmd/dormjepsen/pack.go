package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// packedSuffix is the suffix of a packed history.
const packedSuffix = ".gz"

// pack packs a file with gzip and then removes the original.
func pack(path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("pack a history: %w", err)
	}
	defer in.Close() //nolint:errcheck // read only
	out, err := os.Create(path + packedSuffix)
	if err != nil {
		return fmt.Errorf("pack a history: %w", err)
	}
	z := gzip.NewWriter(out)
	_, err = io.Copy(z, in)
	if err = errors.Join(err, z.Close(), out.Close()); err != nil {
		return fmt.Errorf("pack a history: %w", err)
	}
	return os.Remove(path)
}
