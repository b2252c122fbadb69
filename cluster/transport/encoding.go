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

// framesName names raftrpc.Frames.
const framesName = "frames/1"

// accepts returns the text with which this node answers a dialer that knows the
// encodings in text.
func (s *Stream) accepts(text string) string {
	if s.encodings != "" && slices.Contains(strings.Fields(text), framesName) {
		return framesName
	}
	return ""
}

// encodingOf returns the encoding that the text of an answer names.
func encodingOf(text string) raftrpc.Encoding {
	if text == framesName {
		return raftrpc.Frames
	}
	return raftrpc.Msgpack
}
