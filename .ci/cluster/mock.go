//go:build linux

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// A mock is a simulated server that keeps the requests that belong to loads.
type mock struct {
	mu       sync.Mutex
	requests []request
}

// A request is a request for a completion.
type request struct{ id, text string }

// output is the length of the outputs of loads, in tokens. Before a load, each process sends
// requests to find out whether the server answers and how it counts tokens. Their outputs have
// other lengths.
const output = 13

var ofLoad = fmt.Sprintf(`"max_tokens":%d,`, output)

// startMock starts a simulated server that runs until this process ends.
func startMock(addr string) (*mock, error) {
	server, err := mockserver.New(mockserver.Config{TTFT: 20 * time.Millisecond, PerToken: 5 * time.Millisecond})
	if err != nil {
		return nil, err
	}
	m := &mock{}
	_, _, err = mockserver.Listen(addr, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		if strings.Contains(string(body), ofLoad) {
			m.mu.Lock()
			m.requests = append(m.requests, request{r.Header.Get("X-Request-Id"), r.URL.Path + " " + string(body)})
			m.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		server.ServeHTTP(w, r)
	}))
	return m, err
}

// take returns the paths and bodies of the requests so far, sorted, and forgets them. Two requests
// with the same id are an error.
func (m *mock) take() ([]string, error) {
	m.mu.Lock()
	all := m.requests
	m.requests = nil
	m.mu.Unlock()
	ids := map[string]bool{}
	var texts []string
	for _, r := range all {
		if ids[r.id] {
			return nil, fmt.Errorf("two requests have the id %s", r.id)
		}
		ids[r.id] = true
		texts = append(texts, r.text)
	}
	slices.Sort(texts)
	return texts, nil
}
