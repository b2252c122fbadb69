package blob

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"
)

const (
	programName  = "dormblob"
	processesMax = 4 // one for each call under way
	stderrMax    = 4 << 10
	startMax     = 2 * time.Minute // for a process to reach its store
)

// program is a Store behind processes of dormblob. Each serves one call at a time.
type program struct {
	path, location string
	slots          chan struct{} // holds an element for each call under way

	mu     sync.Mutex
	idle   []*process // guarded by mu
	closed bool       // guarded by mu
}

// process is a running dormblob.
type process struct {
	command *exec.Cmd
	in      io.WriteCloser
	out     *bufio.Reader
	stderr  *tail
}

// OpenProgram returns the store that dormblob reaches at a URL; see Open for path. It starts a
// process, so a store that cannot be opened is an error.
func OpenProgram(ctx context.Context, path, location string) (Store, error) {
	if path == "" {
		path = programPath(programName)
	}
	p := &program{path: path, location: location, slots: make(chan struct{}, processesMax)}
	started, err := p.start(ctx)
	if err != nil {
		return nil, err
	}
	p.idle = append(p.idle, started)
	return p, nil
}

// programPath returns the path of a program in the directory of the running one if it is there, and
// otherwise its name.
func programPath(name string) string {
	if own, err := os.Executable(); err == nil {
		if path := filepath.Join(filepath.Dir(own), name); executable(path) {
			return path
		}
	}
	return name
}

func executable(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0
}

// errNotStarted means that dormblob could not reach its store for startMax.
var errNotStarted = fmt.Errorf("it did not open the store within %v", startMax)

// start starts a process. It ends the process if ctx ends before the process has opened the store.
func (p *program) start(ctx context.Context) (*process, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, startMax, errNotStarted)
	defer cancel()
	c := &process{command: exec.Command(p.path, p.location), stderr: &tail{}}
	c.command.Stderr = c.stderr
	var err error
	if c.in, err = c.command.StdinPipe(); err != nil {
		return nil, fmt.Errorf("start %s: %w", programName, err)
	}
	out, err := c.command.StdoutPipe()
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", programName, err)
	}
	c.out = bufio.NewReaderSize(out, chunkBytes)
	if err := c.command.Start(); err != nil {
		return nil, fmt.Errorf("start %s, which reaches %s: %w: install it beside this program, or name it in backup.program", programName, p.location, err)
	}
	release := context.AfterFunc(ctx, func() { _ = c.command.Process.Kill() })
	var first hello
	err = readLine(c.out, &first)
	if !release() {
		c.end()
		return nil, fmt.Errorf("open %s: %w", p.location, context.Cause(ctx))
	}
	if err != nil {
		return nil, fmt.Errorf("start %s: %w", programName, c.failed(err))
	}
	switch {
	case first.Error != "":
		c.end()
		return nil, fmt.Errorf("open %s: %s", p.location, first.Error)
	case first.Protocol != protocolVersion:
		c.end()
		return nil, fmt.Errorf("%s speaks version %d of its protocol, and this program version %d: install both of one release", p.path, first.Protocol, protocolVersion)
	}
	return c, nil
}

// end ends the process at once.
func (c *process) end() {
	_ = c.command.Process.Kill() // it may have ended
	_ = c.in.Close()
	_ = c.command.Wait() // it was killed
}

// failed ends the process, and returns err with what it wrote to stderr.
func (c *process) failed(err error) error {
	c.end()
	if text := c.stderr.String(); text != "" {
		return fmt.Errorf("%w: %s", err, text)
	}
	return err
}

// call is one call under way.
type call struct {
	program *program
	process *process
	release func() bool // undoes the watch of the call's context
}

// begin takes a process for a call. It ends the process if ctx ends.
func (p *program) begin(ctx context.Context) (*call, error) {
	select {
	case p.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	p.mu.Lock()
	var c *process
	if n := len(p.idle); n > 0 {
		c, p.idle = p.idle[n-1], p.idle[:n-1]
	}
	closed := p.closed
	p.mu.Unlock()
	if closed {
		<-p.slots
		return nil, errors.New("the store is closed")
	}
	if c == nil {
		var err error
		if c, err = p.start(ctx); err != nil {
			<-p.slots
			return nil, err
		}
	}
	return &call{p, c, context.AfterFunc(ctx, func() { _ = c.command.Process.Kill() })}, nil
}

// done ends a call. The process serves the next one if broken is nil.
func (c *call) done(ctx context.Context, broken error) error {
	usable := c.release() && broken == nil
	p := c.program
	p.mu.Lock()
	if usable && !p.closed {
		p.idle = append(p.idle, c.process)
		p.mu.Unlock()
	} else {
		p.mu.Unlock()
		if broken != nil {
			broken = c.process.failed(broken)
		} else {
			c.process.end()
		}
	}
	<-p.slots
	if !usable && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if broken != nil {
		return fmt.Errorf("%s has failed: %w", programName, broken)
	}
	return nil
}

// ask makes a call whose answer has no body.
func (p *program) ask(ctx context.Context, asked request, content io.Reader) (answer, error) {
	c, err := p.begin(ctx)
	if err != nil {
		return answer{}, err
	}
	var a answer
	var failed error
	broken := writeLine(c.process.in, asked)
	if broken == nil && content != nil {
		failed, broken = sendBody(c.process.in, content)
	}
	if broken == nil {
		broken = readLine(c.process.out, &a)
	}
	if err := c.done(ctx, broken); err != nil {
		return answer{}, err
	}
	if failed != nil {
		return answer{}, failed
	}
	return a, a.err()
}

// Put implements Store.
func (p *program) Put(ctx context.Context, name string, r io.Reader, size int64) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := p.ask(ctx, request{Op: "put", Name: name, Size: size}, r); err != nil {
		return fmt.Errorf("store %s: %w", name, err)
	}
	return nil
}

// List implements Store.
func (p *program) List(ctx context.Context, prefix string) ([]Object, error) {
	a, err := p.ask(ctx, request{Op: "list", Name: prefix}, nil)
	if err != nil {
		err = fmt.Errorf("list %s: %w", prefix, err)
	}
	return a.Objects, err
}

// Dirs implements Store. It lists all objects if dormblob is of a version that cannot list the first parts of names.
func (p *program) Dirs(ctx context.Context) ([]string, error) {
	a, err := p.ask(ctx, request{Op: "dirs"}, nil)
	if err == nil {
		return a.Dirs, nil
	}
	objects, err := p.List(ctx, "")
	var all []string
	for _, o := range objects {
		if first, _, several := strings.Cut(o.Name, "/"); several {
			all = append(all, first)
		}
	}
	return slices.Compact(all), err
}

// Delete implements Store.
func (p *program) Delete(ctx context.Context, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if _, err := p.ask(ctx, request{Op: "delete", Name: name}, nil); err != nil {
		return fmt.Errorf("delete %s: %w", name, err)
	}
	return nil
}

// Get implements Store.
func (p *program) Get(ctx context.Context, name string) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	c, err := p.begin(ctx)
	if err != nil {
		return nil, err
	}
	var a answer
	if err := errors.Join(writeLine(c.process.in, request{Op: "get", Name: name}), readLine(c.process.out, &a)); err != nil {
		return nil, c.done(ctx, err)
	}
	if err := a.err(); err != nil {
		return nil, errors.Join(fmt.Errorf("read %s: %w", name, err), c.done(ctx, nil))
	}
	return &got{ctx: ctx, name: name, call: c, body: body{r: c.process.out}}, nil
}

// got is the content of an object.
type got struct {
	ctx  context.Context //nolint:containedctx // of the call of Get
	name string
	call *call
	body body
	once sync.Once
}

// Read implements io.Reader.
func (g *got) Read(p []byte) (int, error) {
	n, err := g.body.Read(p)
	if err == nil || errors.Is(err, io.EOF) {
		return n, err
	}
	if g.ctx.Err() != nil {
		return n, context.Cause(g.ctx)
	}
	if errors.Is(err, errBodyFailed) {
		var why answer
		if e := readLine(g.call.process.out, &why); e == nil && why.err() != nil {
			err = why.err()
		}
	}
	return n, fmt.Errorf("read %s: %w", g.name, err)
}

// Close implements io.Closer. A process whose answer was not read to its end is ended.
func (g *got) Close() error {
	g.once.Do(func() {
		broken := errors.New("its answer was not read to the end")
		if g.body.left == 0 && errors.Is(g.body.end, io.EOF) {
			broken = nil
		}
		_ = g.call.done(g.ctx, broken) // the reader knows whether it has all
	})
	return nil
}

// Close implements Store. It ends the processes that serve no call.
func (p *program) Close() error {
	p.mu.Lock()
	idle := p.idle
	p.idle, p.closed = nil, true
	p.mu.Unlock()
	for _, c := range idle {
		c.end()
	}
	return nil
}

// tail keeps the end of what a process writes to stderr.
type tail struct {
	mu   sync.Mutex
	text []byte // guarded by mu
}

// Write implements io.Writer.
func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.text = append(t.text, p...); len(t.text) > stderrMax {
		t.text = append([]byte(nil), t.text[len(t.text)-stderrMax:]...)
	}
	return len(p), nil
}

// String returns the text.
func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.text))
}
