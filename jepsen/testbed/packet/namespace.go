package packet

import (
	"errors"
	"fmt"
	"runtime"

	"github.com/vishvananda/netns"
)

// Namespace is a network namespace with a thread of ours in it. What the
// thread starts, makes or opens lives there. One of our own has no name: it is
// gone when its thread, its processes and its descriptors are.
//
// The thread lasts until Close, so processes that Do starts may be told to die
// with it.
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

// Home is the namespace that the process itself is in.
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

// run never unlocks its thread, so that the thread ends with it rather than
// serve others from within the namespace.
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

// Do runs f on the thread. Calls of Do queue up; Do must not be called within
// one, nor together with Close.
func (n *Namespace) Do(f func() error) error {
	t := task{do: f, result: make(chan error, 1)}
	select {
	case n.work <- t:
		return <-t.result
	case <-n.done:
		return errClosed
	}
}

// Close ends the thread, and with it the processes that die with it.
func (n *Namespace) Close() {
	close(n.work)
	<-n.done
}
