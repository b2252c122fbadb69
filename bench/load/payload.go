package load

import (
	"hash/fnv"
	"math/rand/v2"
)

// payloadsKept is the number of different payloads of one size that callers write. A block
// of an engine that compresses seldom holds one of them twice.
const payloadsKept = 1024

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// payloads returns JSON objects of exactly size bytes; they are the same in each run.
func payloads(size int) [][]byte {
	random := rand.NewPCG(1, uint64(size))
	list := make([][]byte, payloadsKept)
	for i := range list {
		list[i] = payload(random, size)
	}
	return list
}

// payloadOf returns a JSON object of exactly size bytes. It differs for each name, and is the same in each run.
func payloadOf(name string, size int) []byte {
	sum := fnv.New64a()
	sum.Write([]byte(name))
	return payload(rand.NewPCG(sum.Sum64(), uint64(size)), size)
}

// payload returns a JSON object of exactly size bytes. Its text is random letters, so that
// compression does not help a system much.
func payload(random rand.Source, size int) []byte {
	const head, tail = `{"text":"`, `"}`
	size = max(size, len(head)+len(tail))
	p := append(make([]byte, 0, size), head...)
	var bits uint64
	for n := 0; len(p) < size-len(tail); n++ {
		if n%10 == 0 {
			bits = random.Uint64()
		}
		p = append(p, letters[bits%uint64(len(letters))])
		bits /= uint64(len(letters))
	}
	return append(p, tail...)
}
