package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/seed-2b9cec6d/llmbench/backends/internal/testkit/facts"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

// loading is how long the server takes to load its model. It is long enough that probes reach the server
// before it is ready.
const loading = 200 * time.Millisecond

// A server answers the routes of one version of a server.
type server struct {
	facts  facts.Facts
	set    facts.Settings
	loaded atomic.Bool

	mu     sync.Mutex
	models []*mockserver.Server // names[i] is the name of models[i]
	names  []string
}

// newServer returns a server that has not loaded its model yet.
func newServer(f facts.Facts, set facts.Settings) *server { return &server{facts: f, set: set} }

// listen opens the ports in the same order as the real server, and returns when all of them are open and
// the model is loaded.
func (s *server) listen() error {
	for _, when := range []string{"at once", "loaded"} {
		if when == "loaded" {
			time.Sleep(loading)
			if err := s.waitBehind(); err != nil {
				return err
			}
			if name := s.facts.ModelName(s.set); name != "" {
				if err := s.addModel(name); err != nil {
					return err
				}
			}
			s.loaded.Store(true)
		}
		names := map[string][]string{} // names of the listeners, by address
		for _, l := range s.facts.Listeners {
			if l.Opens == when {
				address := net.JoinHostPort(l.Address(s.set))
				names[address] = append(names[address], l.Name)
			}
		}
		for address, listeners := range names {
			handler := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.serve(listeners, w, r) })
			if _, _, err := mockserver.Listen(address, handler); err != nil { // the listener stays open until the process ends
				return err
			}
		}
	}
	fmt.Printf("standin for %s %s: ready\n", s.facts.Server, s.facts.Version)
	return nil
}

// addModel adds a model that completions can use.
func (s *server) addModel(name string) error {
	m, err := mockserver.New(mockserver.Config{Model: name, TTFT: 2 * time.Millisecond, PerToken: time.Millisecond})
	if err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.names, name) {
		s.models, s.names = append(s.models, m), append(s.names, name)
	}
	return nil
}

// model returns the model with the given name, or nil. Some servers accept any name.
func (s *server) model(name string) *mockserver.Server {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, known := range s.names {
		if name == known || name+":latest" == known || s.facts.Model.Any {
			return s.models[i]
		}
	}
	return nil
}

// serve answers one request at listeners that share an address.
func (s *server) serve(listeners []string, w http.ResponseWriter, r *http.Request) {
	i := slices.IndexFunc(s.facts.Routes, func(route facts.Route) bool {
		return route.Method == r.Method && slices.Contains(listeners, route.Listener) && matches(route.Path, r.URL.Path) && (route.Needs == "" || s.set.Has(route.Needs))
	})
	if i < 0 {
		refuse(w, http.StatusNotFound, "no such route")
		return
	}
	route := s.facts.Routes[i]
	if route.Before != 0 && !s.loaded.Load() {
		refuse(w, route.Before, "the model is being loaded")
		return
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		refuse(w, http.StatusBadRequest, err.Error())
		return
	}
	switch known, err := s.setUp(r.Method+" "+r.URL.Path, body); {
	case err != nil:
		refuse(w, http.StatusBadRequest, err.Error())
	case known:
		answer(w, cmp.Or(route.Answer, "{}"))
	case isCompletion(r.URL.Path) && r.Method == http.MethodPost && s.facts.Model.Behind != "":
		s.pass(w, r, body)
	case isCompletion(r.URL.Path) && r.Method == http.MethodPost:
		s.complete(w, r, body)
	case strings.HasSuffix(r.URL.Path, "/metrics"):
		w.Header().Set("Content-Type", "text/plain; version=0.0.4")
		_, _ = w.Write(s.metrics())
	case route.Answer != "":
		answer(w, route.Answer)
	case r.URL.Path == "/v1/models":
		s.list(w)
	default:
		answer(w, "{}")
	}
}

// matches reports whether a path matches a route, in which {name} stands for any text without a slash.
func matches(route, asked string) bool {
	matched, err := path.Match(regexp.MustCompile(`\{[^}]*\}`).ReplaceAllString(route, "*"), asked)
	return err == nil && matched
}

// setUp handles requests that set the server up, such as one that loads a model, and reports whether the
// request is one of them. The error says what is wrong with the request.
func (s *server) setUp(request string, body []byte) (known bool, err error) {
	known = slices.ContainsFunc(s.facts.Fields, func(d facts.Field) bool { return d.In == request })
	if !known {
		return false, nil
	}
	var fields struct {
		Prompt *string `json:"prompt"` // a request with a prompt is a completion
	}
	if json.Unmarshal(body, &fields) == nil && fields.Prompt != nil {
		return false, nil
	}
	set, err := s.facts.Document(request, body)
	if err != nil {
		return true, err
	}
	if name := s.facts.ModelName(set); name != "" {
		return true, s.addModel(name)
	}
	return true, nil
}

// isCompletion reports whether a path is used for completions, vectors or scores.
func isCompletion(path string) bool {
	return strings.HasSuffix(path, "completions") || strings.HasSuffix(path, "/completion") || slices.Contains([]string{"/generate", "/generate_stream", "/api/generate", "/api/chat", "/v1/responses", "/v1/embeddings", "/embed", "/rerank"}, path)
}

// complete passes a completion to the model that the request names.
func (s *server) complete(w http.ResponseWriter, r *http.Request, body []byte) {
	var request struct {
		Model string `json:"model"`
	}
	_ = json.Unmarshal(body, &request) // the model reports what is wrong with the body
	m := s.model(request.Model)
	if m == nil {
		refuse(w, http.StatusNotFound, fmt.Sprintf("model %q does not exist", request.Model))
		return
	}
	r.Body = io.NopCloser(strings.NewReader(string(body)))
	m.ServeHTTP(w, r)
}

// list answers with the names of the models, in OpenAI's format.
func (s *server) list(w http.ResponseWriter) {
	type entry struct {
		ID     string `json:"id"`
		Object string `json:"object"`
	}
	data := []entry{}
	s.mu.Lock()
	for _, name := range s.names {
		data = append(data, entry{name, "model"})
	}
	s.mu.Unlock()
	text, err := json.Marshal(map[string]any{"object": "list", "data": data})
	if err != nil {
		panic(err) // names are strings: this cannot happen
	}
	answer(w, string(text))
}

func answer(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, text)
}

func refuse(w http.ResponseWriter, status int, why string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, `{"error":{"message":%q}}`, why)
}
