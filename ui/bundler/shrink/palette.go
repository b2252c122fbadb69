package main

import (
	"cmp"
	"image"
	"image/color"
	"slices"
)

// counted is a colour of a picture and the number of its pixels.
type counted struct {
	rgb    [3]uint8
	pixels int
}

// paletteOf returns the colours that stand best for those of a picture, by median cut. Each is a colour
// of the picture, the most frequent one of its box, so that large areas keep their exact colour.
func paletteOf(picture image.Image, colors int) color.Palette {
	counts := map[[3]uint8]int{}
	b := picture.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			r, g, bl, _ := picture.At(x, y).RGBA()
			counts[[3]uint8{uint8(r >> 8), uint8(g >> 8), uint8(bl >> 8)}]++
		}
	}
	var all []counted
	for rgb, n := range counts {
		all = append(all, counted{rgb, n})
	}
	slices.SortFunc(all, func(a, b counted) int { return slices.Compare(a.rgb[:], b.rgb[:]) })
	// Areas and lines keep their exact colours; the rest of the palette is for the edges of letters.
	slices.SortStableFunc(all, func(a, b counted) int { return cmp.Compare(b.pixels, a.pixels) })
	var palette color.Palette
	exact := min(colors/2, len(all))
	for _, c := range all[:exact] {
		palette = append(palette, color.RGBA{c.rgb[0], c.rgb[1], c.rgb[2], 255})
	}
	if exact == len(all) {
		return palette
	}
	boxes := [][]counted{all[exact:]}
	for len(boxes) < colors-exact {
		i, axis := widest(boxes)
		if i < 0 {
			break
		}
		box := boxes[i]
		slices.SortStableFunc(box, func(a, b counted) int { return cmp.Compare(a.rgb[axis], b.rgb[axis]) })
		boxes[i] = box[:len(box)/2]
		boxes = append(boxes, box[len(box)/2:])
	}
	for _, box := range boxes {
		most := slices.MaxFunc(box, func(a, b counted) int { return cmp.Compare(a.pixels, b.pixels) })
		palette = append(palette, color.RGBA{most.rgb[0], most.rgb[1], most.rgb[2], 255})
	}
	return palette
}

// widest returns the box with the largest range of a channel, and that channel; -1 if no box has two
// colours.
func widest(boxes [][]counted) (box, axis int) {
	box, most := -1, 0
	for i, colors := range boxes {
		for channel := range 3 {
			low, high := uint8(255), uint8(0)
			for _, c := range colors {
				low, high = min(low, c.rgb[channel]), max(high, c.rgb[channel])
			}
			if wide := int(high) - int(low); len(colors) > 1 && wide > most {
				box, axis, most = i, channel, wide
			}
		}
	}
	return box, axis
}
