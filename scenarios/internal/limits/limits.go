// Package limits asks a server how long its requests may be, and how many it serves at once.
package limits

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
)

// A Server holds the limits that a server reports. A limit that it does not report is 0.
type Server struct {
	Context  int  // the tokens that a request may have, prompt and output together
	Parallel int  // the number of requests that are served at the same time; others wait
	Ollama   bool // the server is Ollama
	Refuses  int  // the number of tokens, prompt and output together, above which the server refuses a request of Model
	Model    string
}

const (
	timeout    = 10 * time.Second
	mostAnswer = 16 << 20 // bytes
)

// Ask asks the server at t for its limits. It knows llama.cpp's llama-server and Ollama. For other
// servers it returns zero, and may do so for an Ollama that does not report the context. A server is not asked if its target
// says what it refuses, or which server it is. The model must be loaded. The arguments llama and ollama say whether t may be such a
// server; what it cannot be is not asked for.
func Ask(ctx context.Context, t llmbench.Target, llama, ollama bool) Server {
	if t.Context > 0 {
		return Server{Refuses: t.Context, Model: t.Model}
	}
	if name := t.Config["server"]; name != "" { // package backends has asked the same
		s := Server{Ollama: name == "Ollama"}
		if s.Ollama || name == "llama.cpp" {
			s.Context, _ = strconv.Atoi(t.Config["context"]) // 0 if there is none
			s.Parallel, _ = strconv.Atoi(t.Config["slots"])
		}
		return s
	}
	base, client, err := t.Client()
	if err != nil {
		return Server{}
	}
	// https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md#get-props-get-server-global-properties
	var props struct {
		Slots    int `json:"total_slots"`
		Settings struct {
			Context int `json:"n_ctx"` // of a slot
		} `json:"default_generation_settings"`
	}
	if llama && get(ctx, client, base+"/props", &props) && props.Slots > 0 {
		return Server{Context: props.Settings.Context, Parallel: props.Slots}
	}
	// https://docs.ollama.com/api#list-running-models
	var ps struct {
		Models []struct {
			Name    string
			Context int `json:"context_length"`
		}
	}
	if ollama && get(ctx, client, base+"/api/ps", &ps) {
		for _, m := range ps.Models {
			if m.Context > 0 && (m.Name == t.Model || strings.TrimSuffix(m.Name, ":latest") == t.Model) {
				return Server{Context: m.Context, Ollama: true}
			}
		}
	}
	return Server{}
}

// get reads the JSON at a URL into v, and reports whether it could.
func get(ctx context.Context, client *http.Client, url string, v any) bool {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	res, err := client.Do(req)
	if err != nil {
		return false
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, mostAnswer))
	return err == nil && res.StatusCode == http.StatusOK && json.Unmarshal(body, v) == nil
}

// CheckFit returns an error if the server certainly refuses one of the requests. The argument least returns the least
// number of tokens that a prompt has, as the server counts them, if PromptTokens is its intended number. Of conversations
// only the first turn is checked, because the prompts of the others contain answers.
func (s Server) CheckFit(requests []llmbench.Request, least func(promptTokens int) int) error {
	if s.Refuses == 0 {
		return nil
	}
	for _, r := range requests {
		if prompt := least(r.PromptTokens); prompt+r.MaxTokens > s.Refuses && cmp.Or(r.Model, s.Model) == s.Model {
			return fmt.Errorf("a prompt of %d tokens or more with its chat template and an output of %d do not fit: the server refuses more than %d together; lower LLMBENCH_INPUT or LLMBENCH_OUTPUT, or the end of the range of a distribution, or give the server a larger context", prompt, r.MaxTokens, s.Refuses)
		}
	}
	return nil
}

// Exceeded returns a note for each limit that a load exceeds. The load keeps users requests in
// flight, or is an open loop if users is 0. Turns of conversations are not checked, because their
// prompts contain answers.
func (s Server) Exceeded(users int, requests []llmbench.Request) (notes []string) {
	longest := 0
	for _, r := range requests {
		if r.PromptTokens > 0 {
			longest = max(longest, r.PromptTokens+r.MaxTokens)
		}
	}
	if s.Context > 0 && longest > s.Context {
		what := "the server refuses or ends longer requests"
		if s.Ollama {
			what = "Ollama cuts longer prompts without an error, and ends answers early: raise num_ctx or OLLAMA_CONTEXT_LENGTH"
		}
		notes = append(notes, fmt.Sprintf("requests have up to %d tokens, prompt and output together, and the server's context has %d for each: %s", longest, s.Context, what))
	}
	if s.Parallel > 0 && users > s.Parallel {
		slots := fmt.Sprintf("%d slots", s.Parallel)
		if s.Parallel == 1 {
			slots = "one slot"
		}
		notes = append(notes, fmt.Sprintf("%d requests are in flight, and the server has %s: the others wait, which is part of their latencies", users, slots))
	}
	return notes
}

// Waited checks a server that does not report how many requests it serves at the same time. If the
// streams show that it served fewer than the users of a closed loop, Waited returns a note that
// says so. For other servers, and without streams, it returns "".
func (s Server) Waited(users int, samples iter.Seq[*sample.Sample]) string {
	if !s.Ollama {
		return ""
	}
	if most := streams(samples); most > 0 && most < users {
		return fmt.Sprintf("Ollama streamed no more than %d of %d requests at once: the others waited, which is part of their latencies; OLLAMA_NUM_PARALLEL is how many it serves, 1 unless it is set", most, users)
	}
	return ""
}

// streams returns the largest number of answers that arrived at the same time.
func streams(samples iter.Seq[*sample.Sample]) (most int) {
	type event struct {
		at time.Duration
		by int // 1 at the first delta, -1 at the last
	}
	passes := map[int][]event{}
	for s := range samples {
		if s.Outcome == sample.OK && s.Deltas > 0 {
			passes[s.Pass] = append(passes[s.Pass], event{s.First, 1}, event{s.Last, -1})
		}
	}
	for _, events := range passes {
		slices.SortFunc(events, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), b.by-a.by) })
		n := 0
		for _, e := range events {
			n += e.by
			most = max(most, n)
		}
	}
	return most
}
