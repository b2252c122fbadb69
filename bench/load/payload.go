package load

import (
	"math/rand/v2"
)

// payloadsKept is the number of different payloads of one size.
const payloadsKept = 64

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

// payloads returns JSON objects of exactly size bytes; they are the same in each run.
// Their text is random letters, so that compression does not help a system much.
func payloads(size int) [][]byte {
	const head, tail = `{"text":"`, `"}`
	size = max(size, len(head)+len(tail))
	random := rand.New(rand.NewPCG(1, uint64(size)))
	list := make([][]byte, payloadsKept)
	for i := range list {
		p := append(make([]byte, 0, size), head...)
		for len(p) < size-len(tail) {
			p = append(p, letters[random.IntN(len(letters))])
		}
		list[i] = append(p, tail...)
	}
	return list
}
