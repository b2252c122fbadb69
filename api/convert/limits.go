package convert

import (
	"dormouse/agent"
)

// Limits of one message of the Exchange stream, and of the unary calls. Both
// ends of a connection set them explicitly, since gRPC's own default of 4 MiB
// fits neither the largest commit nor the largest answer.
const (
	FrameCallsMax = 128     // calls or replies in one frame
	FrameBytesMax = 1 << 20 // bytes past which a frame takes no further call or reply; a larger one travels alone

	// CallBytesMax is the largest single call that is sent. Its slack over
	// CommitBytesMax lets a commit that is a little too large reach the door
	// and be refused there by name.
	CallBytesMax = agent.CommitBytesMax + 1<<20

	// ReplyBytesMax is the largest single reply: one read of the full
	// ReadBytesMax with what it is wrapped in, or several smaller ones.
	ReplyBytesMax = 2 * agent.ReadBytesMax

	// RequestMessageBytesMax and ReplyMessageBytesMax are what to hand to
	// gRPC: a frame just under FrameBytesMax that takes one more at the limit.
	RequestMessageBytesMax = FrameBytesMax + CallBytesMax
	ReplyMessageBytesMax   = FrameBytesMax + ReplyBytesMax
)
