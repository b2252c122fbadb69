package packet

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// Namespace is a network namespace with a thread of this process in it. The thread starts
// processes, makes devices and opens files there. A namespace that NewNamespace made has
// no name: it is removed when its thread, its processes and its descriptors are gone.
//
// The thread lasts until Close. So Do may start processes with a parent-death signal.
type Namespace struct {
	work chan task
	done chan struct{} // closed by Close's end
}

type task struct {
	do     func() error
	result chan error
}

var errClosed = errors.New("the network namespace is closed")

// NewNamespace makes an empty namespace. It needs root.
func NewNamespace() (*Namespace, error) {
	return start(func() error {
		ns, err := netns.New() // moves this thread into it
		if err != nil {
			return fmt.Errorf("make a network namespace: %w", err)
		}
		return ns.Close() // the thread holds it
	})
}

// Home returns the namespace of the process itself.
func Home() (*Namespace, error) { return start(func() error { return nil }) }

func start(enter func() error) (*Namespace, error) {
	n := &Namespace{work: make(chan task), done: make(chan struct{})}
	entered := make(chan error)
	go n.run(enter, entered)
	if err := <-entered; err != nil {
		return nil, err
	}
	return n, nil
}

// run never unlocks its thread. So the thread ends with run, and cannot serve other
// goroutines inside the namespace.
func (n *Namespace) run(enter func() error, entered chan<- error) {
	runtime.LockOSThread()
	defer close(n.done)
	err := enter()
	entered <- err
	if err != nil {
		return
	}
	for t := range n.work {
		t.result <- t.do()
	}
}

// Do runs f on the thread. Concurrent calls wait for each other. f must not call Do, and
// no call may run during Close.
func (n *Namespace) Do(f func() error) error {
	t := task{do: f, result: make(chan error, 1)}
	select {
	case n.work <- t:
		return <-t.result
	case <-n.done:
		return errClosed
	}
}

// Close ends the thread, and the processes that have it as their parent-death signal.
func (n *Namespace) Close() {
	close(n.work)
	<-n.done
}
