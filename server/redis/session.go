package redis

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"slices"
	"strings"
	"time"

	"dormouse/access"
	"dormouse/agent"
)

// redisVersion is the version of Redis whose replies the commands have. Clients use it to decide
// which commands they send.
const redisVersion = "7.2.0"

// defaultUser is the name that clients send if they know only a password.
const defaultUser = "default"

// login makes the principal of a token the connection's. Without credentials on this node, all
// tokens are as good as none.
func (c *conn) login(ctx context.Context, user, token string) error {
	if c.server.o.Auth == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, callTimeout)
	defer cancel()
	p, err := c.server.o.Auth.Authorization(ctx, c.RemoteAddr().String(), "Bearer "+token)
	if err != nil {
		c.denied(ctx, err)
	}
	switch {
	case agent.CodeOf(err) == agent.CodeUnauthenticated:
		return failuref("WRONGPASS %v", err)
	case err != nil:
		return err
	case user != "" && user != defaultUser && user != p.Name:
		c.denied(ctx, agent.Errorf(agent.CodeUnauthenticated, "the token does not belong to %.64q", user))
		return failuref("WRONGPASS the token does not belong to %.64q: leave the user out, or send the token's principal", user)
	}
	c.principal = p
	return nil
}

// denied records that a call was refused.
func (c *conn) denied(ctx context.Context, err error) {
	if c.server.o.Audit != nil {
		c.server.o.Audit.Denied(ctx, access.Subject{}, err)
	}
}

// certified makes the principal of the client's certificate the connection's, if it has one. The
// handshake of TLS is over once a request has arrived.
func (c *conn) certified(ctx context.Context) {
	secure, ok := c.Conn.(*tls.Conn)
	if !ok || !c.locked() {
		return
	}
	chains := secure.ConnectionState().VerifiedChains
	if len(chains) == 0 {
		return
	}
	p, err := c.server.o.Auth.Authenticate(ctx, access.Credentials{Address: c.RemoteAddr().String(), Chains: chains})
	if err == nil { // otherwise the client needs AUTH
		c.principal = p
	}
}

// runAuth serves AUTH token and AUTH user token.
func runAuth(ctx context.Context, c *conn, args [][]byte) {
	if len(args) > 3 {
		c.replies.value(errSyntax)
		return
	}
	user, token := "", string(args[1])
	if len(args) == 3 {
		user, token = token, string(args[2])
	}
	if err := c.login(ctx, user, token); err != nil {
		c.replies.value(err)
		return
	}
	c.replies.value(statusOK)
}

// runHello serves HELLO [version [AUTH user token] [SETNAME name]].
func runHello(ctx context.Context, c *conn, args [][]byte) {
	resp3 := c.replies.resp3
	if len(args) > 1 {
		if version := string(args[1]); version != "2" && version != "3" {
			c.replies.value(failure("NOPROTO unsupported protocol version"))
			return
		}
		resp3 = string(args[1]) == "3"
	}
	name := c.name
	for rest := args[min(2, len(args)):]; len(rest) > 0; {
		switch option := strings.ToUpper(string(rest[0])); {
		case option == "AUTH" && len(rest) >= 3:
			if err := c.login(ctx, string(rest[1]), string(rest[2])); err != nil {
				c.replies.value(err)
				return
			}
			rest = rest[3:]
		case option == "SETNAME" && len(rest) >= 2:
			if err := checkName(rest[1]); err != nil {
				c.replies.value(err)
				return
			}
			name, rest = string(rest[1]), rest[2:]
		default:
			c.replies.value(errSyntax)
			return
		}
	}
	if c.locked() {
		c.replies.value(failure("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time"))
		return
	}
	c.name, c.replies.resp3 = name, resp3
	proto := int64(2)
	if resp3 {
		proto = 3
	}
	c.pairs("server", "redis", "version", redisVersion, "proto", proto, "id", c.id, "mode", "standalone", "role", "master", "modules", []any{})
}

// pairs replies with keys and values.
func (c *conn) pairs(all ...any) {
	c.replies.mapping(len(all) / 2)
	for _, v := range all {
		c.replies.value(v)
	}
}

func runQuit(_ context.Context, c *conn, _ [][]byte) {
	c.quit = true
	c.replies.value(statusOK)
}

func runReset(_ context.Context, c *conn, _ [][]byte) {
	c.discard()
	if !c.locked() {
		c.opened = time.Now() // for authTimeout
	}
	c.name, c.principal, c.recognized, c.replies.resp3 = "", nil, false, false
	c.replies.value(status("RESET"))
}

func runPing(_ context.Context, c *conn, args [][]byte) {
	switch len(args) {
	case 1:
		c.replies.value(status("PONG"))
	case 2:
		c.replies.value(args[1])
	default:
		c.replies.value(errArity("ping"))
	}
}

func runEcho(_ context.Context, c *conn, args [][]byte) { c.replies.value(args[1]) }

func runSelect(_ context.Context, c *conn, args [][]byte) {
	if string(args[1]) != "0" {
		c.replies.value(failure("ERR DB index is out of range: this server has database 0 only, and redis.scope names its scope"))
		return
	}
	c.replies.value(statusOK)
}

// checkName returns an error if a connection cannot have a name.
func checkName(name []byte) error {
	if len(name) > nameBytesMax {
		return agent.TooLarge("name", "redis_name_bytes_max", len(name), nameBytesMax)
	}
	if slices.ContainsFunc(name, func(b byte) bool { return b < '!' || b > '~' }) {
		return failure("ERR Client names cannot contain spaces, newlines or special characters.")
	}
	return nil
}

// runClient serves the subcommands that clients send when they connect.
func runClient(_ context.Context, c *conn, args [][]byte) {
	switch sub := strings.ToUpper(string(args[1])); {
	case sub == "ID" && len(args) == 2:
		c.replies.value(c.id)
	case sub == "GETNAME" && len(args) == 2:
		c.replies.value(c.name)
	case sub == "INFO" && len(args) == 2:
		c.replies.value(fmt.Sprintf("id=%d addr=%s name=%s db=0 resp=%d\n", c.id, c.RemoteAddr(), c.name, c.proto()))
	case sub == "SETNAME" && len(args) == 3:
		if err := checkName(args[2]); err != nil {
			c.replies.value(err)
			return
		}
		c.name = string(args[2])
		c.replies.value(statusOK)
	case sub == "SETINFO" && len(args) == 4, sub == "NO-EVICT" && len(args) == 3, sub == "NO-TOUCH" && len(args) == 3:
		c.replies.value(statusOK) // nothing depends on it
	default:
		c.replies.value(failuref("ERR unknown subcommand or wrong number of arguments for '%.64s': this server has CLIENT ID, GETNAME, SETNAME, SETINFO and INFO", args[1]))
	}
}

func (c *conn) proto() int {
	if c.replies.resp3 {
		return 3
	}
	return 2
}

// runCommand serves COMMAND and its subcommands COUNT, DOCS, INFO and LIST.
func runCommand(_ context.Context, c *conn, args [][]byte) {
	all := names()
	if len(args) == 1 {
		c.replies.array(len(all))
		for _, name := range all {
			c.describe(name)
		}
		return
	}
	var asked []string
	for _, arg := range args[2:] {
		asked = append(asked, strings.ToUpper(string(arg)))
	}
	switch sub := strings.ToUpper(string(args[1])); {
	case sub == "COUNT" && len(args) == 2:
		c.replies.value(int64(len(all)))
	case sub == "LIST" && len(args) == 2:
		c.replies.array(len(all))
		for _, name := range all {
			c.replies.value(strings.ToLower(name))
		}
	case sub == "INFO":
		c.replies.array(len(asked))
		for _, name := range asked {
			c.describe(name)
		}
	case sub == "DOCS":
		if asked == nil {
			asked = all
		}
		asked = slices.DeleteFunc(asked, func(name string) bool { return commands[name] == nil })
		c.replies.mapping(len(asked))
		for _, name := range asked {
			c.replies.value(strings.ToLower(name))
			c.pairs("summary", commands[name].about)
		}
	default:
		c.replies.value(failuref("ERR unknown subcommand '%.64s'", args[1]))
	}
}

// names returns the names of all commands, sorted.
func names() []string {
	all := make([]string, 0, len(commands))
	for name := range commands {
		all = append(all, name)
	}
	slices.Sort(all)
	return all
}

// describe replies with what COMMAND tells about a command, null if there is none.
func (c *conn) describe(name string) {
	s := commands[name]
	if s == nil {
		c.replies.value(nil)
		return
	}
	flags := []any{}
	for _, flag := range s.flags {
		flags = append(flags, status(flag))
	}
	step := int64(min(s.first, 1))
	c.replies.value([]any{strings.ToLower(name), int64(s.arity), flags, int64(s.first), int64(s.end), step})
}

// runInfo replies with the fields that clients look for. INFO takes names of sections, and all have
// the same answer.
func runInfo(_ context.Context, c *conn, _ [][]byte) {
	port := 0
	if addr, ok := c.LocalAddr().(*net.TCPAddr); ok {
		port = addr.Port
	}
	c.replies.value(fmt.Sprintf("# Server\r\nredis_version:%s\r\nredis_mode:standalone\r\ndormouse_version:%s\r\ndormouse_node:%s\r\ndormouse_scope:%s\r\ntcp_port:%d\r\n\r\n"+
		"# Clients\r\nconnected_clients:%d\r\n\r\n# Persistence\r\nloading:0\r\n\r\n# Replication\r\nrole:master\r\nconnected_slaves:0\r\n\r\n# Cluster\r\ncluster_enabled:0\r\n",
		redisVersion, c.server.o.Version, c.server.o.Node, c.server.o.Scope, port, c.server.connections()))
}
