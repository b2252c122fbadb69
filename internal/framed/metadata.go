package framed

import (
	"slices"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	spb "google.golang.org/genproto/googleapis/rpc/status"

	framepb "dormouse/proto/frame"
)

// fieldsOf returns metadata as fields, in the order of their names.
func fieldsOf(md metadata.MD) []*framepb.Field {
	var out []*framepb.Field
	for name, values := range md {
		for _, v := range values {
			out = append(out, &framepb.Field{Name: name, Value: v})
		}
	}
	slices.SortStableFunc(out, func(a, b *framepb.Field) int {
		switch {
		case a.Name < b.Name:
			return -1
		case a.Name > b.Name:
			return 1
		}
		return 0
	})
	return out
}

func metadataOf(fields []*framepb.Field) metadata.MD {
	md := metadata.MD{}
	for _, f := range fields {
		md.Append(f.GetName(), f.GetValue())
	}
	return md
}

// endOf returns the end of a stream whose handler returned err.
func endOf(err error, trailer metadata.MD) (*framepb.End, error) {
	end := &framepb.End{Fields: fieldsOf(trailer)}
	if s := status.Convert(err); s.Code() != codes.OK {
		raw, err := proto.Marshal(s.Proto())
		if err != nil {
			return nil, err //nolint:wrapcheck // names the message
		}
		end.Status = raw
	}
	return end, nil
}

// errorOf returns the error of a stream's end, nil for success.
func errorOf(end *framepb.End) error {
	if len(end.GetStatus()) == 0 {
		return nil
	}
	s := &spb.Status{}
	if err := proto.Unmarshal(end.GetStatus(), s); err != nil {
		return status.Errorf(codes.Internal, "the status that ends the stream is malformed: %v", err)
	}
	return status.ErrorProto(s) //nolint:wrapcheck // it is the stream's
}
