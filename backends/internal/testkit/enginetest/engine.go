package enginetest

import (
	"context"
	"slices"
	"strings"

	"github.com/kballard/go-shellquote"
)

// ModelName is the name of the model that each engine serves, and AdapterName the name of an adapter of it, with
// [Engine].LoRA.
const (
	ModelName   = "tiny"
	AdapterName = "tiny-adapter"
)

// An Engine is an inference server that can be installed and run on this machine. Its fields are read-only.
type Engine struct {
	Name    string // in LLMBENCH_BACKEND, if it is known there
	Title   string // for documents
	Version string
	Each    bool // .ci/run runs it each time; the other engines take longer, and run on demand

	source   source
	needs    []needed                                              // what the machine must have, beside Python
	prepare  func(ctx context.Context, e Engine, dir string) error // the last step of an installation from PyPI; may be nil
	programs []command                                             // the last one is the engine
	ready    answer
	keyed    []string // arguments of the last program that make it require the key {key}
	// ownBenchmark is the command of the engine's own benchmark, with the placeholders of a command and {url},
	// {requests}, {concurrency}, {input}, {output} and {file}.
	ownBenchmark []string

	// Pooling are arguments that make the engine answer embeddings and rankings in place of completions.
	Pooling []string
	// LoRA are arguments that make the engine serve the model and an adapter of it, AdapterName, in the folder {lora}.
	LoRA []string
	// ContinuousUsage says that the engine states the tokens so far in each event if it is asked to.
	ContinuousUsage bool
	// Scarce are arguments that leave the engine so little KV cache that it preempts requests.
	Scarce []string

	// Counters names the engine's metrics.
	Counters Counters
	// Lacks lists the scenarios, without "Benchmark", that the engine cannot run.
	Lacks []string
	// Body is the value of LLMBENCH_BODY that the engine needs, because it refuses members that it does not know.
	Body string
	// MaxLen is the largest number of tokens of a request, prompt and output together. 0 means that the engine
	// does not refuse a prompt that is too long.
	MaxLen int
	// AnyModel says that the engine serves requests for models that it does not have.
	AnyModel bool
	// Dialects lists the APIs that the engine answers, beside openai-chat.
	Dialects []string
}

// Short returns the engine's title up to the first comma, colon or parenthesis.
func (e Engine) Short() string {
	return e.Title[:strings.IndexAny(e.Title+",", ",:(")]
}

// Keyed reports whether the engine can require a key of its clients.
func (e Engine) Keyed() bool { return e.keyed != nil }

// HasBenchmark reports whether the engine brings a benchmark along.
func (e Engine) HasBenchmark() bool { return e.ownBenchmark != nil }

// A command starts a part of an engine. In args and env these placeholders are replaced: {port} with the port that the
// program listens on, {upstream} with the port of the program before it, {dir} with the folder of the
// installation, {python} with its Python, {model} with the folder of the model, {lora} with the folder of an adapter of it, {tmp} with an empty folder for
// temporary files, and {key} with the key that clients must send.
type command struct {
	env  []string // NAME=value, beside this process's environment
	args []string
}

// An answer is what an engine that is ready answers: status 200 at the path, with a body that contains the text.
type answer struct{ path, contains string }

// Command returns the command that starts the engine, as a value of LLMBENCH_COMMAND. tmp is an empty folder, and args are
// further arguments of the engine. The engine must be installed.
func (e Engine) Command(ctx context.Context, tmp string, args ...string) (command string, err error) {
	replace, err := e.paths(ctx, tmp)
	if err != nil {
		return "", err
	}
	var parts []string
	for i, p := range e.programs {
		words := slices.Clone(p.args)
		if i == len(e.programs)-1 {
			words = append(words, args...)
		}
		for i := range words {
			words[i] = replace.Replace(words[i])
		}
		text := shellquote.Join(words...)
		for _, v := range slices.Backward(p.env) {
			text = replace.Replace(v) + " " + text
		}
		parts = append(parts, strings.NewReplacer(`\{`, "{").Replace(text))
	}
	return strings.Join(parts, " & "), nil
}

// paths returns what replaces the placeholders of an installed engine, except for ports and the key.
func (e Engine) paths(ctx context.Context, tmp string) (*strings.Replacer, error) {
	dir, err := e.Installed()
	if err != nil {
		return nil, err
	}
	model, err := modelFolder(ctx)
	if err != nil {
		return nil, err
	}
	lora, err := loraFolder(ctx)
	if err != nil {
		return nil, err
	}
	return strings.NewReplacer("{dir}", dir, "{python}", python(dir), "{model}", model, "{lora}", lora, "{tmp}", tmp), nil
}
