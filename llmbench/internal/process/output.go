package process

import (
	"io"
	"sync"

	"github.com/seed-2b9cec6d/llmbench/llmbench/redact"
)

// An output writes the lines between results, without secrets, and remembers the first error of these lines and of results.
type output struct {
	to io.Writer

	mu  sync.Mutex
	err error
}

// Write writes to the output.
func (o *output) Write(b []byte) (int, error) {
	_, err := io.WriteString(o.to, redact.Known().Remove(string(b)))
	if err != nil {
		o.lose(err)
		return 0, err
	}
	return len(b), nil
}

// lose remembers the error because of which text was not written.
func (o *output) lose(err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err == nil {
		o.err = err
	}
}

// error returns the first error, or nil.
func (o *output) error() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}
