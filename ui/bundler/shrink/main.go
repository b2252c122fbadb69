// Command shrink rewrites PNG files with a palette, and cuts their lower part if they are still too large.
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

// bytesMax bounds a picture.
const bytesMax = 60_000

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

// shrink writes a picture into out, as high and with as many colours as its size allows.
func shrink(out, file string) error {
	raw, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	picture, err := png.Decode(bytes.NewReader(raw))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	// A lower picture is better than one whose colours are wrong.
	whole := picture.Bounds()
	for _, sixths := range []int{6, 5, 4} {
		part := picture.(interface {
			SubImage(r image.Rectangle) image.Image
		}).SubImage(image.Rect(0, 0, whole.Dx(), whole.Dy()*sixths/6))
		for _, colors := range []int{160, 96, 56} {
			small, err := encode(part, colors)
			if err != nil {
				return err
			}
			if len(small) <= bytesMax {
				return os.WriteFile(filepath.Join(out, filepath.Base(file)), small, 0o644)
			}
		}
	}
	return fmt.Errorf("%s has more than %d bytes at two thirds of its height: show less", file, bytesMax)
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
