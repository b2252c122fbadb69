package ops

import (
	"dormouse/agent"
)

// JSON returns b, or nil if b is empty: protobuf does not distinguish empty from
// missing bytes.
func JSON(b []byte) agent.JSON {
	if len(b) == 0 {
		return nil
	}
	return b
}
