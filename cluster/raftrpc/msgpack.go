package raftrpc

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"

	"github.com/hashicorp/go-msgpack/v2/codec"
	"github.com/hashicorp/raft"
)

// msgpackBuffer is the size of the buffers of a connection with msgpack.
const msgpackBuffer = 256 << 10

// msgpack is the callCodec of Msgpack: that of raft.NetworkTransport. A call is its
// kind and its request. A reply is an error's text, or "", and the response.
type msgpack struct {
	in  *bufio.Reader
	out *bufio.Writer
	dec *codec.Decoder
	enc *codec.Encoder
}

func newMsgpack(c net.Conn) *msgpack {
	m := &msgpack{in: bufio.NewReaderSize(c, msgpackBuffer), out: bufio.NewWriterSize(c, msgpackBuffer)}
	m.dec = codec.NewDecoder(m.in, new(codec.MsgpackHandle))
	encoded := new(codec.MsgpackHandle)
	encoded.TimeNotBuiltin = true // times are as raft.NetworkTransport writes them
	m.enc = codec.NewEncoder(m.out, encoded)
	return m
}

func (m *msgpack) writeCall(request any) error {
	return errors.Join(m.out.WriteByte(byte(kindOf(request))), m.enc.Encode(request), m.out.Flush())
}

func (m *msgpack) readReply(response any) (refused, err error) {
	var text string
	if err := m.dec.Decode(&text); err != nil {
		return nil, fmt.Errorf("decode a reply: %w", err)
	}
	if err := m.dec.Decode(response); err != nil {
		return nil, fmt.Errorf("decode a reply: %w", err)
	}
	if text != "" {
		refused = errors.New(text)
	}
	return refused, nil
}

func (m *msgpack) readCall() (any, io.Reader, error) {
	request, err := readKind(m.in)
	if err != nil {
		return nil, nil, err
	}
	if err := m.dec.Decode(request); err != nil {
		return nil, nil, fmt.Errorf("decode a call of kind %d: %w", kindOf(request), err)
	}
	if r, ok := request.(*raft.InstallSnapshotRequest); ok {
		return r, io.LimitReader(m.in, r.Size), nil
	}
	return request, nil, nil
}

func (m *msgpack) writeReply(response raft.RPCResponse) error {
	text := ""
	if response.Error != nil {
		text = response.Error.Error()
	}
	return errors.Join(m.enc.Encode(text), m.enc.Encode(response.Response), m.out.Flush())
}
