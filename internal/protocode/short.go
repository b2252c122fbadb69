package protocode

import "google.golang.org/protobuf/encoding/protowire"

// ShortBytes returns where the value of the first field of raw begins and ends, if that is less than
// 16 KiB of bytes and has a tag of one byte; end is 0 otherwise.
func ShortBytes(raw []byte) (begin, end int) {
	if len(raw) < 3 || raw[0]&0x87 != byte(protowire.BytesType) || raw[0] < 1<<3 {
		return 0, 0
	}
	begin, end = 2, 2+int(raw[1])
	if raw[1] >= 0x80 {
		if raw[2] >= 0x80 {
			return 0, 0
		}
		begin, end = 3, 3+(int(raw[1]&0x7f)|int(raw[2])<<7)
	}
	if end > len(raw) {
		return 0, 0
	}
	return begin, end
}

// consumeTag is protowire.ConsumeTag, faster for tags of one byte.
func consumeTag(raw []byte) (protowire.Number, protowire.Type, int) {
	if len(raw) > 0 && raw[0] < 0x80 && raw[0] >= 1<<3 {
		return protowire.Number(raw[0] >> 3), protowire.Type(raw[0] & 7), 1
	}
	return protowire.ConsumeTag(raw)
}
