// Command shrink rewrites PNG files with at most 64 colours, so that pictures of the console stay small.
//
//	go -C ui/bundler run ./shrink OUT FILE...
package main

import (
	"bytes"
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"os"
	"path/filepath"
)

// bytesMax bounds a picture, and colorsMax its palette.
const (
	bytesMax  = 60_000
	colorsMax = 64
)

func main() {
	if len(os.Args) < 3 {
		fmt.Fprintln(os.Stderr, "usage: shrink OUT FILE...")
		os.Exit(2)
	}
	for _, file := range os.Args[2:] {
		if err := shrink(os.Args[1], file); err != nil {
			fmt.Fprintln(os.Stderr, "shrink:", err)
			os.Exit(1)
		}
	}
}

// shrink writes a picture into out, with as many colours as its size allows.
func shrink(out, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	for colors := colorsMax; colors >= 16; colors /= 2 {
		small, err := encode(picture, colors)
		if err != nil {
			return err
		}
		if len(small) <= bytesMax {
			return os.WriteFile(filepath.Join(out, filepath.Base(file)), small, 0o644)
		}
	}
	return fmt.Errorf("%s has more than %d bytes with 16 colours: show less", file, bytesMax)
}

// encode returns a picture with a palette of so many colours, without dithering.
func encode(picture image.Image, colors int) ([]byte, error) {
	small := image.NewPaletted(picture.Bounds(), paletteOf(picture, colors))
	draw.Draw(small, small.Bounds(), picture, image.Point{}, draw.Src)
	var b bytes.Buffer
	e := png.Encoder{CompressionLevel: png.BestCompression}
	err := e.Encode(&b, small)
	return b.Bytes(), err
}
