package transport

import (
	"slices"
	"strings"

	"dormouse/cluster/raftrpc"
)

// The two sides of a connection for Raft agree on the encoding of calls in their
// handshake. The text of the dialer's hello names the encodings that it knows,
// separated by spaces, and the text of the answer names the one that the acceptor
// chose. The proofs cover both texts. Builds before frames send an empty text and
// ignore the other side's, so calls between them and this build are in msgpack.

// The names of raftrpc.Frames and raftrpc.SummedFrames.
const (
	framesName       = "frames/1"
	summedFramesName = "frames/2"
)

// encodingsKnown are the encodings that a node of this build knows, the best one first.
const encodingsKnown = summedFramesName + " " + framesName

// accepts returns the text with which this node answers a dialer that knows the
// encodings in text.
func (s *Stream) accepts(text string) string {
	theirs := strings.Fields(text)
	for _, name := range strings.Fields(s.encodings) {
		if slices.Contains(theirs, name) {
			return name
		}
	}
	return ""
}

// encodingOf returns the encoding that the text of an answer names.
func encodingOf(text string) raftrpc.Encoding {
	switch text {
	case summedFramesName:
		return raftrpc.SummedFrames
	case framesName:
		return raftrpc.Frames
	}
	return raftrpc.Msgpack
}
