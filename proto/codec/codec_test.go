package codec_test

import (
	"strings"
	"testing"

	"google.golang.org/grpc/encoding"
	grpcproto "google.golang.org/grpc/encoding/proto"
	"google.golang.org/grpc/mem"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/structpb"

	apipb "dormouse/proto/api"
	"dormouse/proto/codec"
	oppb "dormouse/proto/op"
)

func calls(key string, size int) *apipb.Calls {
	return &apipb.Calls{Calls: []*apipb.Call{{Id: 7, Call: &apipb.Call_Commit{Commit: &apipb.CommitRequest{
		Scope: "s", Ops: []*oppb.Op{{Op: &oppb.Op_PutCheckpoint{PutCheckpoint: &oppb.PutCheckpoint{
			Key: key, State: []byte(`{"x":"` + strings.Repeat("\xff", size) + `"}`),
		}}}},
	}}}}}
}

// Either end may have gRPC's own codec.
func TestBothCodecsReadWhatTheOtherWrites(t *testing.T) {
	own := encoding.GetCodecV2(grpcproto.Name)
	for _, size := range []int{0, 10, 5000} { // below the threshold of pooling, and above
		sent := calls("k\u00e9y", size)
		for name, c := range map[string][2]encoding.CodecV2{
			"ours to own": {codec.Codec, own}, "own to ours": {own, codec.Codec}, "ours": {codec.Codec, codec.Codec},
		} {
			data, err := c[0].Marshal(sent)
			if err != nil {
				t.Fatal(err)
			}
			got := calls("what was there before", 3)
			if err := c[1].Unmarshal(data, got); err != nil || !proto.Equal(sent, got) {
				t.Errorf("%s, %d bytes: %v, %v", name, size, got, err)
			}
			data.Free()
		}
	}
}

func TestStringsThatAreNotUTF8AreRefusedAtBothEnds(t *testing.T) {
	if _, err := codec.Codec.Marshal(calls("k\xffy", 2000)); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("sent: %v", err)
	}
	raw := calls("k\xffy", 10).Encode()
	if err := codec.Codec.Unmarshal(mem.BufferSlice{mem.SliceBuffer(raw)}, &apipb.Calls{}); err == nil || !strings.Contains(err.Error(), "not UTF-8") {
		t.Errorf("received: %v", err)
	}
}

func TestMessagesWithoutCodeOfTheirOwnGoByReflection(t *testing.T) {
	data, err := codec.Codec.Marshal(structpb.NewStringValue("text"))
	if err != nil {
		t.Fatal(err)
	}
	got := &structpb.Value{}
	if err := codec.Codec.Unmarshal(data, got); err != nil || got.GetStringValue() != "text" {
		t.Error(got, err)
	}
}

func BenchmarkCodec(b *testing.B) {
	sent := calls("key", 0)
	for range 63 {
		sent.Calls = append(sent.Calls, calls("key", 0).Calls...)
	}
	for _, c := range sent.Calls {
		c.GetCommit().Ops[0].GetPutCheckpoint().State = []byte(strings.Repeat("x", 1024))
	}
	for name, c := range map[string]encoding.CodecV2{"ours": codec.Codec, "own": encoding.GetCodecV2(grpcproto.Name)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				data, err := c.Marshal(sent)
				if err != nil {
					b.Fatal(err)
				}
				if err := c.Unmarshal(data, &apipb.Calls{}); err != nil {
					b.Fatal(err)
				}
				data.Free()
			}
		})
	}
}
