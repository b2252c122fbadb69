// Package codec encodes gRPC messages with the generated code of each message, several
// times as fast as reflection. The encoding is the same: either side may use gRPC's own
// codec.
package codec

import (
	"fmt"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"

	"dormouse/internal/protocode"
	"dormouse/internal/utf8pb"
)

// Codec is gRPC's codec of protobuf messages; give it to grpc.ForceCodecV2 and
// grpc.ForceServerCodecV2. It may be used concurrently. It uses reflection for messages
// without generated code.
var Codec encoding.CodecV2 = codec{}

type codec struct{}

// Message is a message with generated code.
type Message interface {
	proto.Message
	protocode.Message
}

// Name returns the name of gRPC's own codec, which it replaces.
func (codec) Name() string { return grpcproto.Name }

// Marshal encodes a message. A string that is not UTF-8 is an error.
func (codec) Marshal(v any) (mem.BufferSlice, error) {
	m, ok := v.(Message)
	if !ok {
		return own().Marshal(v)
	}
	size := m.EncodedSize()
	if mem.IsBelowBufferPoolingThreshold(size) {
		raw := make([]byte, size)
		if err := Encode(m, raw); err != nil {
			return nil, err
		}
		return mem.BufferSlice{mem.SliceBuffer(raw)}, nil
	}
	pool := mem.DefaultBufferPool()
	raw := pool.Get(size)
	if err := Encode(m, *raw); err != nil {
		pool.Put(raw)
		return nil, err
	}
	return mem.BufferSlice{mem.NewBuffer(raw, pool)}, nil
}

// Unmarshal decodes a message. A string that is not UTF-8 is an error. The fields of bytes of one
// call or reply in a frame share memory, which they do not share with the others.
func (codec) Unmarshal(data mem.BufferSlice, v any) error {
	m, ok := v.(Message)
	if !ok {
		return own().Unmarshal(data, v)
	}
	raw := data.MaterializeToBuffer(mem.DefaultBufferPool())
	defer raw.Free()
	return Decode(m, raw.ReadOnlyData())
}

// Encode encodes a message into a buffer of just its EncodedSize. A string that is not UTF-8 is an
// error.
func Encode(m Message, into []byte) error {
	m.EncodeBackward(into)
	return utf8pb.Of(m.ProtoReflect().Descriptor()).Check(into)
}

// Decode decodes a message, as Codec does; m shares no memory with raw. It leaves the entries of a
// thaw encoded (protocode.Deferred); package convert decodes them.
func Decode(m Message, raw []byte) error {
	proto.Reset(m)
	if err := m.DecodeAs(protocode.SharedByPart|protocode.Checked|protocode.Deferred, raw); err != nil {
		return fmt.Errorf("decode %T: %w", m, err)
	}
	return nil
}

// own is gRPC's own codec.
func own() encoding.CodecV2 { return encoding.GetCodecV2(grpcproto.Name) }
