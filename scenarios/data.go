package scenarios

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/seed-2b9cec6d/llmbench/benchdata"
	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// A data describes what the loads of a study send.
type data struct {
	name     string // the value of workload= in benchmark names
	endpoint endpoint
	// file is the published name of the data set in LLMBENCH_DATA, and get says how to get the file. Data
	// without a file has file "".
	file, get string
	// in is the mean length of the published prompts, and limit the maximum number of output tokens. out is
	// the mean length of the published answers, or 0 if the load does not depend on it.
	in, out, limit int
	// grows says that prompts are longer than in if the server's template leaves no room for a text.
	grows bool
	// draw returns n requests. path is the path of the file.
	draw func(s server, path string, n int, seed uint64) ([]llmbench.Request, error)
}

// An endpoint is the kind of endpoint that data is meant for. A chat endpoint puts a template around each
// prompt; a completion endpoint continues the bare prompt.
type endpoint int

const (
	anyEndpoint endpoint = iota
	chatEndpoint
	completionEndpoint
)

// forEndpoint returns s with the dialect for an endpoint of kind e, and whether the server has such an
// endpoint.
func (s server) forEndpoint(e endpoint) (server, bool) {
	switch s.target.Dialect.(type) {
	case nil, dialect.OpenAIChat:
		if e == completionEndpoint { // an OpenAI server has both endpoints
			s.target.Dialect, s.template = dialect.OpenAICompletions{}, 0
		}
		return s, true
	case dialect.OpenAIResponses, dialect.Ollama, dialect.AnthropicMessages, dialect.Gemini, dialect.Vertex,
		dialect.BedrockConverse, dialect.BedrockInvoke, dialect.Cohere:
		return s, e != completionEndpoint
	}
	return s, e != chatEndpoint
}

// random returns data of random words, with prompts of in tokens and answers of out tokens.
func random(in, out int) data {
	return data{
		name: fmt.Sprintf("random-%dx%d", in, out),
		in:   in, limit: out,
		draw: func(s server, _ string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.prompts(in, out, seed).Requests(n)
		},
	}
}

// simulated returns d for the simulated server. A file is replaced by random words of the same mean length.
// Answers have the published mean length if d has one; otherwise the server's profile determines their
// length.
func (d data) simulated() data {
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

// path returns the path of the file in folder. If the file does not exist, the error says how to get it.
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

// hasFile reports whether folder contains the file of d, or d has no file.
func (d data) hasFile(folder string) bool {
	_, err := d.path(folder)
	return err == nil
}

// getByCurl returns the command that downloads file.
func getByCurl(file, url string) string { return "get it by: curl -fL -o " + file + " " + url }

// templated adds the length of s's template to the prompt lengths of requests, so that they equal what the
// server counts. It passes err through.
func (s server) templated(requests []llmbench.Request, err error) ([]llmbench.Request, error) {
	for i := range requests {
		requests[i].PromptTokens += s.template
	}
	return requests, err
}

// questions returns data from a file of questions, in the order of the file. The seed only determines the
// salt of the questions.
func questions(name string, format benchdata.QuestionFormat, file, get string, in, limit int) data {
	return data{
		name: name, endpoint: chatEndpoint, file: file, get: get, in: in, limit: limit,
		draw: func(s server, path string, n int, seed uint64) ([]llmbench.Request, error) {
			return s.templated(benchdata.Questions{Format: format, Path: path, Output: limit, Salt: s.target.Salt(seed), Tokenizer: s.tokens}.Requests(n))
		},
	}
}
