package redis

import (
	"math"
	"strconv"
	"strings"
	"time"

	"dormouse/agent"
)

// parser converts the arguments of a command to a step. Its error is the reply.
type parser func(args [][]byte) (*step, error)

// keysOf returns the keys among arguments, if all are valid.
func keysOf(args [][]byte) ([]string, error) {
	keys := make([]string, len(args))
	for i, arg := range args {
		keys[i] = string(arg)
		if err := agent.ValidKey("key", keys[i]); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// reading returns the parser of a command that reads keys.
func reading(k kind) parser {
	return func(args [][]byte) (*step, error) {
		keys, err := keysOf(args[1:])
		if err != nil {
			return nil, err
		}
		if len(keys) > readsMax {
			return nil, agent.TooLarge("keys", "reads_max", len(keys), readsMax)
		}
		return &step{kind: k, keys: keys}, nil
	}
}

func parseDelete(args [][]byte) (*step, error) {
	keys, err := keysOf(args[1:])
	if err != nil {
		return nil, err
	}
	return &step{kind: kindDelete, keys: keys}, nil
}

// putting returns a step that puts a value.
func putting(key, value []byte) (*step, error) {
	keys, err := keysOf([][]byte{key})
	if err != nil {
		return nil, err
	}
	if path, ok := agent.FilePath(keys[0]); ok {
		if err := agent.ValidFilePath("key", path); err != nil {
			return nil, err
		}
	}
	if len(value) > agent.ValueBytesMax {
		return nil, agent.TooLarge("value", "value_bytes_max", len(value), agent.ValueBytesMax)
	}
	return &step{kind: kindPut, keys: keys, value: value}, nil
}

// parseSet parses SET key value [NX | XX] [EX seconds | PX milliseconds].
func parseSet(args [][]byte) (*step, error) {
	s, err := putting(args[1], args[2])
	if err != nil {
		return nil, err
	}
	s.yes = statusOK
	for rest := args[3:]; len(rest) > 0; rest = rest[1:] {
		switch option := strings.ToUpper(string(rest[0])); {
		case option == "NX" && s.when == always:
			s.when = absent
		case option == "XX" && s.when == always:
			s.when = present
		case (option == "PX" || option == "EX") && s.ttl == 0 && len(rest) > 1:
			unit := time.Millisecond
			if option == "EX" {
				unit = time.Second
			}
			if s.ttl, err = lifetimeOf(rest[1], unit); err != nil {
				return nil, err
			}
			rest = rest[1:]
		case option == "GET" || option == "KEEPTTL" || option == "EXAT" || option == "PXAT":
			return nil, failuref("ERR syntax error: this server has no %s for SET", option)
		default:
			return nil, errSyntax
		}
	}
	return s, nil
}

// lifetimeOf parses a number of units.
func lifetimeOf(arg []byte, unit time.Duration) (time.Duration, error) {
	n, err := strconv.ParseInt(string(arg), 10, 64)
	if err != nil {
		return 0, errNotInteger
	}
	if n <= 0 || n > math.MaxInt64/int64(unit) || time.Duration(n)*unit > agent.TTLMax {
		return 0, errExpireTime
	}
	return time.Duration(n) * unit, nil
}
