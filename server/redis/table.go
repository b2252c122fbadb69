package redis

import "context"

// spec is a command of the server.
type spec struct {
	arity int  // number of arguments with the name; negative means at least so many
	early bool // allowed before AUTH
	alone bool // not allowed in a transaction
	ends  bool // made at once even in a transaction

	flags      []string // as COMMAND tells them
	first, end int      // positions of the first and the last key
	about      string   // what it does, for COMMAND DOCS

	parse func(c *conn, args [][]byte) (*step, error)       // of commands on values
	run   func(ctx context.Context, c *conn, args [][]byte) // of the others
}

var (
	reads  = []string{"readonly"}
	writes = []string{"write", "denyoom"}
	plain  = []string{"fast", "loading", "stale"}
)

// commands are all commands of the server, by name. An init function fills it, because COMMAND refers
// to it.
var commands map[string]*spec

func init() {
	commands = map[string]*spec{
		"GET":     {arity: 2, flags: reads, first: 1, end: 1, about: "Returns the value of a key.", parse: on(reading(kindGet))},
		"MGET":    {arity: -2, flags: reads, first: 1, end: -1, about: "Returns the values of keys.", parse: on(reading(kindMGet))},
		"EXISTS":  {arity: -2, flags: reads, first: 1, end: -1, about: "Returns how many of the keys exist.", parse: on(reading(kindExists))},
		"TTL":     {arity: 2, flags: reads, first: 1, end: 1, about: "Returns the time to live of a key in seconds.", parse: on(reading(kindTTL))},
		"PTTL":    {arity: 2, flags: reads, first: 1, end: 1, about: "Returns the time to live of a key in milliseconds.", parse: on(reading(kindPTTL))},
		"SCAN":    {arity: -2, flags: reads, alone: true, about: "Lists keys.", run: runScan},
		"SET":     {arity: -3, flags: writes, first: 1, end: 1, about: "Sets the value of a key.", parse: on(parseSet)},
		"DEL":     {arity: -2, flags: writes, first: 1, end: -1, about: "Deletes keys.", parse: on(parseDelete)},
		"EVAL":    {arity: -3, flags: writes, first: 3, end: 3, about: "Runs the compare-and-set of Jido.Persistence.Redis.", parse: func(c *conn, args [][]byte) (*step, error) { return c.server.scripts.eval(args) }},
		"EVALSHA": {arity: -3, flags: writes, first: 3, end: 3, about: "Runs the compare-and-set by its hash.", parse: func(c *conn, args [][]byte) (*step, error) { return c.server.scripts.evalSHA(args) }},
		"SCRIPT":  {arity: -2, flags: plain, about: "Loads the compare-and-set, or says if it is loaded.", run: runScript},

		"MULTI":   {arity: 1, flags: plain, ends: true, about: "Begins a transaction.", run: runMulti},
		"EXEC":    {arity: 1, flags: plain, ends: true, about: "Makes a transaction.", run: runExec},
		"DISCARD": {arity: 1, flags: plain, ends: true, about: "Drops a transaction.", run: runDiscard},

		"AUTH":    {arity: -2, early: true, alone: true, flags: plain, about: "Authenticates with a token.", run: runAuth},
		"HELLO":   {arity: -1, early: true, alone: true, flags: plain, about: "Chooses the version of the protocol.", run: runHello},
		"QUIT":    {arity: -1, early: true, ends: true, flags: plain, about: "Closes the connection.", run: runQuit},
		"RESET":   {arity: 1, early: true, ends: true, flags: plain, about: "Makes the connection as new.", run: runReset},
		"PING":    {arity: -1, flags: plain, about: "Replies PONG, or its argument.", run: runPing},
		"ECHO":    {arity: 2, flags: plain, about: "Replies its argument.", run: runEcho},
		"SELECT":  {arity: 2, flags: plain, about: "Selects database 0.", run: runSelect},
		"CLIENT":  {arity: -2, flags: plain, about: "Names the connection, or tells about it.", run: runClient},
		"COMMAND": {arity: -1, flags: plain, about: "Lists the commands.", run: runCommand},
		"INFO":    {arity: -1, flags: plain, about: "Tells about the server.", run: runInfo},
	}
}

// on returns a parser of a spec.
func on(parse parser) func(*conn, [][]byte) (*step, error) {
	return func(_ *conn, args [][]byte) (*step, error) { return parse(args) }
}

func runScript(_ context.Context, c *conn, args [][]byte) {
	c.replies.value(c.server.scripts.run(args))
}
