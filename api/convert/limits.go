package convert

import (
	"dormouse/agent"
)

// Limits of one message of the Exchange stream, and of the unary calls. Both sides of a
// connection set them, since gRPC's default of 4 MiB is below the largest commit and
// the largest answer.
const (
	FrameCallsMax = 128     // calls or replies in one frame
	FrameBytesMax = 1 << 20 // bytes past which a frame takes no further call or reply; a larger one travels alone

	// CallBytesMax is the largest single call. It exceeds CommitBytesMax, so that
	// request validation refuses a commit that is a little too large with an error that
	// names the limit.
	CallBytesMax = agent.CommitBytesMax + 1<<20

	// ReplyBytesMax is the largest single reply: one read of ReadBytesMax with its
	// envelope, or several smaller ones.
	ReplyBytesMax = 2 * agent.ReadBytesMax

	// RequestMessageBytesMax and ReplyMessageBytesMax are gRPC's limits: a frame just
	// below FrameBytesMax, and one more call or reply of the largest size.
	RequestMessageBytesMax = FrameBytesMax + CallBytesMax
	ReplyMessageBytesMax   = FrameBytesMax + ReplyBytesMax
)
