package redis

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // EVALSHA names scripts by it
	"encoding/hex"
	"strings"
	"sync"
	"time"
)

// compareAndSet is the script of Jido.Persistence.Redis, as shape returns it.
const compareAndSet = `local current = redis.call("GET", KEYS[1]) ` +
	`if ARGV[1] == "missing" then if current then return 0 end ` +
	`elseif current ~= ARGV[2] then return 0 end ` +
	`if ARGV[4] == "" then redis.call("SET", KEYS[1], ARGV[3]) ` +
	`else redis.call("SET", KEYS[1], ARGV[3], "PX", ARGV[4]) end return 1`

// scriptArgs are the arguments of EVAL for the script: EVAL script 1 key mode previous value ttl.
const scriptArgs = 8

// shape returns a script without comments, and with one kind of quotes and of white space. Scripts
// with the same shape do the same, unless a text in them holds quotes, dashes or white space; that of
// compareAndSet does not. A script with long comments has no shape.
func shape(script []byte) string {
	if bytes.Contains(script, []byte("--[")) {
		return ""
	}
	var words []string
	for line := range bytes.Lines(script) {
		code, _, _ := bytes.Cut(line, []byte("--"))
		words = append(words, strings.Fields(string(code))...)
	}
	return strings.ReplaceAll(strings.Join(words, " "), "'", `"`)
}

// scripts are the hashes of the spellings of the script that this server has seen.
type scripts struct {
	mu     sync.Mutex
	hashes map[string]bool // guarded by mu; at most scriptHashes
}

// learn reports whether a text is the script, and remembers its hash, which it returns.
func (s *scripts) learn(script []byte) (hash string, ok bool) {
	if shape(script) != compareAndSet {
		return "", false
	}
	sum := sha1.Sum(script) //nolint:gosec // EVALSHA names scripts by it
	hash = hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.hashes) < scriptHashes {
		s.hashes[hash] = true
	}
	return hash, true
}

func (s *scripts) knows(hash string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.hashes[strings.ToLower(hash)]
}

// eval parses EVAL.
func (s *scripts) eval(args [][]byte) (*step, error) {
	if _, ok := s.learn(args[1]); !ok {
		return nil, errScript
	}
	return parseSwap(args)
}

// evalSHA parses EVALSHA.
func (s *scripts) evalSHA(args [][]byte) (*step, error) {
	if !s.knows(string(args[1])) {
		return nil, errNoScript
	}
	return parseSwap(args)
}

// parseSwap parses the arguments of the script.
func parseSwap(args [][]byte) (*step, error) {
	if len(args) != scriptArgs || string(args[2]) != "1" {
		return nil, failuref("ERR the compare-and-set takes 1 key and 4 arguments: missing or value, the previous bytes, the new bytes, and a ttl in ms or nothing")
	}
	s, err := putting(args[3], args[6])
	if err != nil {
		return nil, err
	}
	s.yes, s.no = int64(1), int64(0)
	s.when, s.previous = equal, args[5]
	if string(args[4]) == "missing" {
		s.when, s.previous = absent, nil
	}
	if len(args[7]) > 0 {
		s.ttl, err = lifetimeOf(args[7], time.Millisecond)
	}
	return s, err
}

// run serves SCRIPT LOAD and SCRIPT EXISTS.
func (s *scripts) run(args [][]byte) any {
	switch strings.ToUpper(string(args[1])) {
	case "LOAD":
		if len(args) != 3 {
			return errArity("script|load")
		}
		hash, ok := s.learn(args[2])
		if !ok {
			return errScript
		}
		return hash
	case "EXISTS":
		all := []any{}
		for _, hash := range args[2:] {
			n := int64(0)
			if s.knows(string(hash)) {
				n = 1
			}
			all = append(all, n)
		}
		return all
	case "FLUSH":
		return statusOK // there is nothing to flush
	default:
		return failuref("ERR unknown subcommand '%.64s': this server has SCRIPT LOAD and EXISTS", args[1])
	}
}
