package endpoint

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
)

// Aside counts the requests of a process that are part of no measured pass. It is safe for concurrent use. The zero
// value has counted none.
type Aside struct {
	mu    sync.Mutex
	count map[aside]int
}

// An aside is a kind of requests, and the server that got them.
type aside struct{ what, where string }

// Sent counts the requests of this process to servers that are not simulated.
var Sent Aside

// Add counts n requests to the server at where. The text what describes them, such as "POST /tokenize".
func (a *Aside) Add(n int, what, where string) {
	if n == 0 {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.count == nil {
		a.count = map[aside]int{}
	}
	a.count[aside{what, where}] += n
}

// mostAside is the number of kinds that String lists.
const mostAside = 12

// String lists the counts, the largest first, or returns "" if there are none. It names servers if there are several.
func (a *Aside) String() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	kinds := slices.SortedFunc(maps.Keys(a.count), func(x, y aside) int {
		if d := a.count[y] - a.count[x]; d != 0 {
			return d
		}
		return strings.Compare(x.what+x.where, y.what+y.where)
	})
	several := slices.ContainsFunc(kinds, func(k aside) bool { return k.where != kinds[0].where })
	var parts []string
	others := 0
	for i, k := range kinds {
		if i >= mostAside {
			others += a.count[k]
			continue
		}
		part := k.what
		if several {
			part += " at " + k.where
		}
		parts = append(parts, fmt.Sprintf("%s %d", part, a.count[k]))
	}
	if others > 0 {
		parts = append(parts, fmt.Sprintf("others %d", others))
	}
	return strings.Join(parts, ", ")
}
