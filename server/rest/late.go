package rest

import (
	"net/http"
	"sync"

	"dormouse/agent"
	"dormouse/agent/layout"
)

// Late returns a handler that calls New at the first request: New takes 10 ms of a processor,
// which a simulation spends at each start of a node. Each request gets New's error as a status 500.
func Late(service agent.Service, operator layout.Operator, o Options) http.Handler {
	l := &late{}
	l.open = sync.OnceValues(func() (http.Handler, error) {
		handler, err := New(service, operator, o)
		l.mu.Lock()
		defer l.mu.Unlock()
		if f, ok := handler.(*api); ok && l.ended {
			f.endWatches()
		}
		l.handler = handler
		return handler, err
	})
	return l
}

// late is the handler that Late returns.
type late struct {
	open func() (http.Handler, error)

	mu      sync.Mutex
	handler http.Handler // guarded by mu; nil before the first request
	ended   bool         // guarded by mu; the server shuts down
}

// ServeHTTP implements http.Handler.
func (l *late) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	handler, err := l.open()
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	handler.ServeHTTP(w, r)
}

// endWatches ends all watches, including later ones.
func (l *late) endWatches() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = true
	if f, ok := l.handler.(*api); ok {
		f.endWatches()
	}
}
