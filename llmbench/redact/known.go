package redact

import (
	"sync"
	"sync/atomic"
)

// known holds the secrets that were added.
var known struct {
	sync.Mutex
	has     map[string]bool
	secrets atomic.Pointer[Secrets]
}

// Add adds secrets of this process, which [Known] hides from then on.
func Add(texts ...string) {
	known.Lock()
	defer known.Unlock()
	if known.has == nil {
		known.has = map[string]bool{}
	}
	before := len(known.has)
	for _, text := range texts {
		if len(text) >= least {
			known.has[text] = true
		}
	}
	if len(known.has) == before {
		return
	}
	all := make([]string, 0, len(known.has))
	for text := range known.has {
		all = append(all, text)
	}
	s := New(all)
	known.secrets.Store(&s)
}

// Known returns all secrets of this process so far.
func Known() Secrets {
	if s := known.secrets.Load(); s != nil {
		return *s
	}
	return Secrets{}
}
