package protocode

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Each Size function returns how many bytes the Put function of the same name
// writes.

// SizeInt returns the size of an integer or an enum value.
func SizeInt[T integer](n protowire.Number, v T) int {
	if v == 0 {
		return 0
	}
	return protowire.SizeTag(n) + protowire.SizeVarint(uint64(v))
}

// SizeOptionalInt returns the size of an integer with presence.
func SizeOptionalInt[T integer](n protowire.Number, v *T) int {
	if v == nil {
		return 0
	}
	return protowire.SizeTag(n) + protowire.SizeVarint(uint64(*v))
}

// SizeInts returns the size of a packed list of integers.
func SizeInts[T integer](n protowire.Number, list []T) int {
	if len(list) == 0 {
		return 0
	}
	size := 0
	for _, v := range list {
		size += protowire.SizeVarint(uint64(v))
	}
	return SizeMessage(n, size)
}

// SizeBool returns the size of a bool.
func SizeBool(n protowire.Number, v bool) int {
	if !v {
		return 0
	}
	return protowire.SizeTag(n) + 1
}

// SizeOptionalBool returns the size of a bool with presence.
func SizeOptionalBool(n protowire.Number, v *bool) int {
	if v == nil {
		return 0
	}
	return protowire.SizeTag(n) + 1
}

// SizeDouble returns the size of a double.
func SizeDouble(n protowire.Number, v float64) int {
	if math.Float64bits(v) == 0 {
		return 0
	}
	return protowire.SizeTag(n) + 8
}

// SizeFloats returns the size of a packed list of floats.
func SizeFloats(n protowire.Number, list []float32) int {
	if len(list) == 0 {
		return 0
	}
	return SizeMessage(n, 4*len(list))
}

// SizeText returns the size of a string or bytes.
func SizeText[T text](n protowire.Number, v T) int {
	if len(v) == 0 {
		return 0
	}
	return SizeMessage(n, len(v))
}

// SizeTexts returns the size of a list of strings or bytes.
func SizeTexts[T text](n protowire.Number, list []T) int {
	size := 0
	for _, v := range list {
		size += SizeMessage(n, len(v))
	}
	return size
}

// SizeMessage returns the size of a message whose encoding has length bytes.
func SizeMessage(n protowire.Number, length int) int {
	return protowire.SizeTag(n) + protowire.SizeVarint(uint64(length)) + length
}
