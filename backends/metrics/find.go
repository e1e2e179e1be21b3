package metrics

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Kind is a kind of server that is recognised by its metrics.
type Kind struct {
	Name string // for messages, such as vLLM
	// Mark begins the names of metrics of this kind of server, and of no other. ""
	// begins the names of every server.
	Mark  string
	Names Names
}

// Find asks a server that runs for its metrics, and returns the kind that it is of,
// and the addresses with the paths of the metrics. Where an address has no path, the
// paths of all kinds are tried, in the order of the kinds. All addresses have to be
// of the same kind. Find waits at most ten seconds. Its error is for one line.
func Find(ctx context.Context, addresses []Address, kinds []Kind) (Kind, []Address, error) {
	ctx, cancel := bound(ctx)
	defer cancel()
	addresses = slices.Clone(addresses)
	var kind Kind
	for i := range addresses {
		found, err := addresses[i].recognise(ctx, kinds)
		if err == nil && i > 0 && found.Name != kind.Name {
			err = fmt.Errorf("%s and %s have metrics of %s and %s; want those of one kind of server",
				addresses[0].Target.Where(), addresses[i].Target.Where(), kind.Name, found.Name)
		}
		if err != nil {
			return Kind{}, nil, err
		}
		kind = found
	}
	return kind, addresses, nil
}

// recognise finds the kind of the server, and sets the path of its metrics. Its
// error is that of the last path.
func (a *Address) recognise(ctx context.Context, kinds []Kind) (Kind, error) {
	paths := []string{a.Path}
	if a.Path == "" {
		paths = nil
		for _, k := range kinds {
			if !slices.Contains(paths, k.Names.Path) {
				paths = append(paths, k.Names.Path)
			}
		}
	}
	var last error
	for _, path := range paths {
		all, err := a.read(ctx, path)
		if err != nil {
			last = err
			if ctx.Err() != nil {
				break
			}
			continue
		}
		k, err := all.recognise(kinds)
		if err == nil {
			a.Path = path
			return k, nil
		}
		last = fmt.Errorf("GET %s from %s: %w", path, a.Target.Where(), err)
	}
	return Kind{}, last
}

// recognise returns the kind of server that has these metrics.
func (f families) recognise(kinds []Kind) (Kind, error) {
	var names []string
	for _, k := range kinds {
		names = append(names, k.Name)
		if !f.has(k.Mark) {
			continue
		}
		if s := k.Names.snapshot(f); s.empty() {
			return Kind{}, fmt.Errorf("metrics of %s, but none of its counters of requests, tokens, prefix cache and queue", k.Name)
		}
		return k, nil
	}
	return Kind{}, fmt.Errorf("metrics of no server that is known; known are %s", strings.Join(names, ", "))
}
