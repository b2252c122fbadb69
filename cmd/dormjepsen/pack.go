package main

import (
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
)

// packedSuffix marks a history that is packed.
const packedSuffix = ".gz"

// pack packs a file with gzip, beside it, and then removes it.
func pack(path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("pack a history: %w", err)
	}
	defer in.Close() //nolint:errcheck // it is only read
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
