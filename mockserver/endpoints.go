package mockserver

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/jsontext"
	"github.com/seed-2b9cec6d/llmbench/mockserver/internal/wire"
)

// An endpoint answers the requests to a path that is not for completions.
type endpoint struct {
	allow string // the allowed methods, as in the header Allow
	serve func(*Server, http.ResponseWriter, *http.Request)
}

var endpoints = map[string]endpoint{
	"/":                   {"GET, HEAD", ollamaRunning},
	"/api/version":        {"GET, HEAD", ollamaVersion},
	"/api/tags":           {"GET, HEAD", ollamaTags},
	"/api/ps":             {"GET, HEAD", ollamaProcesses},
	"/api/show":           {"POST", ollamaShow},
	"/v1/models":          {"GET", models},
	"/health":             {"GET, HEAD", healthy},
	"/v2/health/ready":    {"GET, HEAD", healthy},
	"/v2/health/live":     {"GET, HEAD", healthy},
	"/metrics":            {"GET", metrics},
	"/tokenize":           {"POST", tokenize},
	"/reset_prefix_cache": {"POST", resetPrefixCache},
	"/mock/log":           {"GET, DELETE", mockLog},
}

// ServeHTTP answers one request. The package comment lists the endpoints.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	accepted := s.clock.Now()
	if s.death.happened() && r.URL.Path != "/mock/log" {
		s.hangUpDead(w, r, accepted)
		return
	}
	if route, ok := wire.RouteFor(r.URL.Path, s.cfg.Flavor); ok {
		if allowed(w, r, "POST") {
			s.complete(w, r, route, accepted)
		}
		return
	}
	e, ok := endpoints[r.URL.Path]
	if !ok {
		writeError(w, wire.NewError(http.StatusNotFound, "NotFoundError", "", fmt.Sprintf("path %s: not found", r.URL.Path)))
		return
	}
	if allowed(w, r, e.allow) {
		e.serve(s, w, r)
	}
}

// allowed reports whether the request's method is in the list. If it is not, allowed
// answers the request with status 405.
func allowed(w http.ResponseWriter, r *http.Request, list string) bool {
	if slices.Contains(strings.Split(list, ", "), r.Method) {
		return true
	}
	w.Header().Set("Allow", list)
	writeError(w, wire.NewError(http.StatusMethodNotAllowed, "MethodNotAllowedError", "", fmt.Sprintf("method %s: want %s", r.Method, list)))
	return false
}

func models(s *Server, w http.ResponseWriter, _ *http.Request) {
	body := fmt.Appendf(nil, `{"object":"list","data":[{"id":%s,"object":"model","created":%d,"owned_by":"mockserver"}`, s.model, s.clock.Epoch.Unix())
	for _, name := range s.cfg.LoRA {
		body = fmt.Appendf(body, `,{"id":%s,"object":"model","created":%d,"owned_by":"mockserver","parent":%s}`, jsontext.Quote(name), s.clock.Epoch.Unix(), s.model)
	}
	writeJSON(w, http.StatusOK, append(body, "]}"...))
}

func healthy(*Server, http.ResponseWriter, *http.Request) {}

func metrics(s *Server, w http.ResponseWriter, r *http.Request) { s.meter.handler.ServeHTTP(w, r) }

func resetPrefixCache(s *Server, _ http.ResponseWriter, _ *http.Request) { s.ResetPrefixCache() }

func mockLog(s *Server, w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodDelete {
		s.Reset()
		return
	}
	body, err := json.Marshal(s.Log())
	if err != nil {
		panic(err) // an Entry has only numbers, strings and booleans
	}
	w.Header().Set("Mock-Epoch-Unix-Ns", strconv.FormatInt(s.EpochUnixNano(), 10))
	writeJSON(w, http.StatusOK, body)
}
