package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/backends"
	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// data is what a study's loads send.
type data struct {
	name     string // as in workload=
	endpoint endpoint
	// file is its published name, in LLMBENCH_DATA, and get says how to get it; ""
	// needs none.
	file, get string
	// in is the prompts' mean length in tokens, as published, and limit what
	// answers are limited to: what the mock, which takes words for tokens, is sent
	// instead of a file. out is the answers' mean length where the load depends on
	// it: the mock's answers have it then, and otherwise what its profile says.
	in, out, limit int
	draw           func(s server, path string, n int, seed uint64) ([]llmbench.Request, error)
}

// An endpoint is what data was published for: a chat, which puts a template
// around each prompt, or one that continues the bare prompt.
type endpoint int

const (
	anyEndpoint endpoint = iota
	toChat
	toComplete
)

// at returns s as it takes requests for e, and whether it can.
func (s server) at(e endpoint) (server, bool) {
	switch s.target.Dialect.(type) {
	case nil, dialect.OpenAIChat:
		if e == toComplete { // the same server has both
			s.target.Dialect, s.template = dialect.OpenAICompletions{}, 0
		}
		return s, true
	case dialect.OpenAIResponses, dialect.Ollama:
		return s, e != toComplete
	}
	return s, e != toChat
}

// random is random words: prompts of one length and answers of one.
func random(in, out int) data {
	return data{
		name: fmt.Sprintf("random-%dx%d", in, out),
		in:   in, limit: out,
		draw: func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.prompts(in, out, seed).Requests(n)
		},
	}
}

// onMock is d for the mock: random words of the same mean length instead of a
// file.
func (d data) onMock() data {
	if d.file == "" {
		return d
	}
	if d.out > 0 {
		return random(d.in, d.out)
	}
	r := random(d.in, d.limit)
	r.endpoint = d.endpoint
	fixed := r.draw
	r.draw = func(s server, path string, n int, seed uint64) ([]llmbench.Request, error) {
		requests, err := fixed(s, path, n, seed)
		for i := range requests {
			requests[i].FixedOutput = false
		}
		return requests, err
	}
	return r
}

// path returns where the file is; its error says how to get it.
func (d data) path(folder string) (string, error) {
	if d.file == "" {
		return "", nil
	}
	if folder == "" {
		return "", fmt.Errorf("LLMBENCH_DATA is not set: workload=%s needs a folder with %s\n%s", d.name, d.file, d.get)
	}
	path := filepath.Join(folder, d.file)
	_, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return "", fmt.Errorf("LLMBENCH_DATA=%s: workload=%s needs %s in it\n%s", folder, d.name, d.file, d.get)
	}
	return path, err
}

func curl(file, url string) string { return "get it by: curl -fL -o " + file + " " + url }

// templated makes the lengths of requests what a server with s's template should
// count.
func (s server) templated(requests []llmbench.Request, err error) ([]llmbench.Request, error) {
	for i := range requests {
		requests[i].PromptTokens += s.template
	}
	return requests, err
}

// questions is a file of questions, in its order.
func questions(name string, format benchdata.QuestionFormat, file, get string, in, limit int) data {
	return data{
		name: name, endpoint: toChat, file: file, get: get, in: in, limit: limit,
		draw: func(s server, path string, n int, _ uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Questions{Format: format, Path: path, Output: limit, Tokenizer: s.tokens}.Requests(n))
		},
	}
}

// isMock reports whether a backend is the simulated server.
func isMock(b backends.Named) bool {
	switch b.Backend.(type) {
	case backends.Mock, backends.MockContainer:
		return true
	}
	return false
}
