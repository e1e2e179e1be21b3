package limits

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/sample"
	"github.com/seed-2b9cec6d/llmbench/mockserver"
)

func TestAsk(t *testing.T) {
	const ps = `{"models":[{"name":"other:latest","context_length":7},{"name":"m:latest","context_length":4096}]}`
	for _, c := range []struct {
		path, answer string
		want         Server
	}{
		{"/props", `{"default_generation_settings":{"n_ctx":2048},"total_slots":4}`, Server{Context: 2048, Parallel: 4}},
		{"/props", `<html>`, Server{}},
		{"/props", `{}`, Server{}},
		{"/api/ps", ps, Server{Context: 4096, Ollama: true}},
		{"/api/ps", `{"models":[]}`, Server{}},
		{"/api/ps", `{"models":[{"name":"m"}]}`, Server{}},
		{"/api/ps", `{"models":7}`, Server{}},
		{"/none", "", Server{}},
	} {
		mux := http.NewServeMux()
		mux.HandleFunc("GET "+c.path, func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, c.answer) })
		srv := httptest.NewServer(mux)
		assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: srv.URL, Model: "m"}, true, true), c.want, "%s %s", c.path, c.answer)
		srv.Close()
	}
	assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: "http://127.0.0.1:1", Model: "m"}, true, true), Server{})
	assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: "nothing"}, true, true), Server{})

	for _, c := range []struct {
		config map[string]string
		want   Server
	}{
		{map[string]string{"server": "llama.cpp", "context": "2048", "slots": "4"}, Server{Context: 2048, Parallel: 4}},
		{map[string]string{"server": "Ollama", "context": "4096"}, Server{Context: 4096, Ollama: true}},
		{map[string]string{"server": "vLLM", "context": "4096"}, Server{}},
	} {
		assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: "nothing", Config: c.config}, true, true), c.want)
	}

	simulated, err := mockserver.New(mockserver.Config{}) // it has the endpoints of many servers, and no limits
	assert.NilError(t, err)
	srv := httptest.NewServer(simulated)
	defer srv.Close()
	assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: srv.URL, Model: "mock"}, true, true), Server{})
}

func TestExceeded(t *testing.T) {
	requests := []llmbench.Request{{PromptTokens: 100, MaxTokens: 20}, {PromptTokens: 512, MaxTokens: 128}, {MaxTokens: 9999}}
	const (
		long    = "requests have up to 640 tokens, prompt and output together, and the server's context has 639 for each: "
		refuses = "the server refuses or ends longer requests"
		cuts    = "Ollama cuts longer prompts without an error, and ends answers early: raise num_ctx or OLLAMA_CONTEXT_LENGTH"
		slots   = "5 requests are in flight, and the server has 4 slots: the others wait, which is part of their latencies"
	)
	for _, c := range []struct {
		server Server
		users  int
		want   []string
	}{
		{Server{}, 1000, nil},
		{Server{Context: 640, Parallel: 4}, 4, nil},
		{Server{Context: 639, Parallel: 4}, 5, []string{long + refuses, slots}},
		{Server{Parallel: 1}, 5, []string{strings.Replace(slots, "4 slots", "one slot", 1)}},
		{Server{Context: 639, Ollama: true}, 1, []string{long + cuts}},
		{Server{Context: 640, Ollama: true}, 2, nil},
		{Server{Context: 640, Ollama: true}, 0, nil},
	} {
		assert.DeepEqual(t, c.server.Exceeded(c.users, requests), c.want)
	}
}

func TestWaited(t *testing.T) {
	stream := func(pass int, first, last time.Duration) sample.Sample {
		return sample.Sample{Pass: pass, Outcome: sample.OK, Deltas: 2, First: first, Last: last}
	}
	two := sample.All(stream(0, 1, 5), stream(0, 3, 7), stream(0, 8, 9), stream(1, 4, 6), sample.Sample{Pass: 0, Outcome: sample.OK})
	for _, c := range []struct {
		server Server
		users  int
		want   string
	}{
		{Server{Ollama: true}, 3, "Ollama streamed no more than 2 of 3 requests at once: the others waited, which is part of their latencies; OLLAMA_NUM_PARALLEL is how many it serves, 1 unless it is set"},
		{Server{Ollama: true}, 2, ""},
		{Server{}, 3, ""},
	} {
		assert.Equal(t, c.server.Waited(c.users, two), c.want)
	}
	assert.Equal(t, Server{Ollama: true}.Waited(3, sample.All(sample.Sample{Outcome: sample.OK})), "")
}

func TestCheckFit(t *testing.T) {
	halved := func(promptTokens int) int { return max(1, promptTokens/2) }
	for _, c := range []struct {
		refuses int
		request llmbench.Request
		want    string
	}{
		{0, llmbench.Request{PromptTokens: 9999, MaxTokens: 9999}, ""},
		{384, llmbench.Request{PromptTokens: 512, MaxTokens: 128}, ""}, // it may fit
		{383, llmbench.Request{PromptTokens: 512, MaxTokens: 128}, "a prompt of 256 tokens or more with its chat template and an output of 128 do not fit: the server refuses more than 383 together; lower LLMBENCH_INPUT"},
		{128, llmbench.Request{MaxTokens: 127}, ""},
		{128, llmbench.Request{MaxTokens: 128}, "a prompt of 1 tokens or more"},
		{128, llmbench.Request{MaxTokens: 128, Model: "m"}, "a prompt of 1 tokens or more"},
		{128, llmbench.Request{MaxTokens: 128, Model: "another, of another context"}, ""},
	} {
		err := Server{Refuses: c.refuses, Model: "m"}.CheckFit([]llmbench.Request{{MaxTokens: 1}, c.request}, halved)
		if c.want == "" {
			assert.NilError(t, err)
		} else {
			assert.ErrorContains(t, err, c.want)
		}
	}
	assert.Equal(t, Ask(t.Context(), llmbench.Target{URL: "http://127.0.0.1:1", Model: "m", Context: 7}, true, true), Server{Refuses: 7, Model: "m"})
}
