package scenarios

import (
	"testing"
	"time"

	"github.com/seed-2b9cec6d/llmbench/llmbench"
	"github.com/seed-2b9cec6d/llmbench/llmbench/harness"
)

// Accuracy measures how many questions the server answers correctly, with one user and with 64 users, and
// its speed. The data set is Options.Dataset. By default it is LLMBENCH_DATASET if its questions have
// answers, and otherwise arithmetic.
func (o Options) Accuracy(b *testing.B, target llmbench.Target) {
	scenario("Accuracy").Run(b, target, o)
}

// Agent replays recorded sessions of agents, with tools, pauses and sub-agents, of Options.Sessions or made-up ones: the time of a
// session, the TTFT by the depth of a conversation, and the hits that the file implies for a prefix cache.
func (o Options) Agent(b *testing.B, target llmbench.Target) { scenario("Agent").Run(b, target, o) }

// Agreement measures how many greedy answers stay the same under load. agree-% is the share of answers that
// equal the reference answer to the same prompt: the server's answer to a single user, or the answer in the
// file LLMBENCH_ANSWERS.
func (o Options) Agreement(b *testing.B, target llmbench.Target) {
	scenario("Agreement").Run(b, target, o)
}

// Chat measures one user and four users with prompts of 512 tokens and answers of
// at most 200, streamed and not streamed. Full form: study A.
func (o Options) Chat(b *testing.B, target llmbench.Target) { scenario("Chat").Run(b, target, o) }

// CodeQA measures increasing numbers of users with programming tasks. Full form: study D.
func (o Options) CodeQA(b *testing.B, target llmbench.Target) { scenario("CodeQA").Run(b, target, o) }

// Concurrency measures 1, 8, 16 and 64 users with prompts of 512 tokens and answers
// of 128. It has no full form.
func (o Options) Concurrency(b *testing.B, target llmbench.Target) {
	scenario("Concurrency").Run(b, target, o)
}

// Decode measures how fast one user's answers of 128 tokens are generated, as
// llama-bench's tg128 does. Full form: study C.
func (o Options) Decode(b *testing.B, target llmbench.Target) { scenario("Decode").Run(b, target, o) }

// Embeddings measures how many texts of 128 tokens are embedded in a second, in requests of 1, 8 and 32 texts
// by increasing numbers of users. First it checks that equal texts get nearly equal vectors, whatever the
// batch. If the target's dialect generates text, requests are sent to OpenAI's /v1/embeddings.
func (o Options) Embeddings(b *testing.B, target llmbench.Target) {
	scenario("Embeddings").Run(b, target, o)
}

// Fairness measures the TTFT of a light tenant alone and beside a heavy one. Options.Tenants tells the
// tenants apart.
func (o Options) Fairness(b *testing.B, target llmbench.Target) {
	scenario("Fairness").Run(b, target, o)
}

// Interference measures a steady stream of short requests before, during and after one long
// prompt, and a short request to an idle server.
func (o Options) Interference(b *testing.B, target llmbench.Target) {
	scenario("Interference").Run(b, target, o)
}

// LengthGrid measures how throughput depends on the lengths of prompts and answers.
// Full form: study B.
func (o Options) LengthGrid(b *testing.B, target llmbench.Target) {
	scenario("LengthGrid").Run(b, target, o)
}

// LongContext measures increasing numbers of users with one long text to be translated. Full form: study D.
func (o Options) LongContext(b *testing.B, target llmbench.Target) {
	scenario("LongContext").Run(b, target, o)
}

// MixedLoad measures classes of requests, such as interactive and batch, each with a load of its own: each class alone, and then
// all of them together. The last row has the figures of each class, also as multiples of the figures of the class alone.
// Options.Classes are the classes.
func (o Options) MixedLoad(b *testing.B, target llmbench.Target) {
	scenario("MixedLoad").Run(b, target, o)
}

// MultiTurn measures conversations of five turns. Each turn sends everything that was said before.
// p50-ttft-turnN-ns is the TTFT of turn N.
func (o Options) MultiTurn(b *testing.B, target llmbench.Target) {
	scenario("MultiTurn").Run(b, target, o)
}

// OpenQA measures increasing numbers of users with short questions. Full form: study D.
func (o Options) OpenQA(b *testing.B, target llmbench.Target) { scenario("OpenQA").Run(b, target, o) }

// Prefill measures how fast prompts of 512 tokens are processed, as llama-bench's
// pp512 does. Full form: study C.
func (o Options) Prefill(b *testing.B, target llmbench.Target) { scenario("Prefill").Run(b, target, o) }

// PrefixCache measures prompts that begin alike. It reports the hit rate of the prefix cache, and the TTFT
// of hits and misses.
func (o Options) PrefixCache(b *testing.B, target llmbench.Target) {
	scenario("PrefixCache").Run(b, target, o)
}

// Reasoning measures a model that reasons before it answers. It reports the time to the first token of the
// reasoning, and to the first token that the user sees.
func (o Options) Reasoning(b *testing.B, target llmbench.Target) {
	scenario("Reasoning").Run(b, target, o)
}

// Rerank measures how many documents of 128 tokens are ranked in a second, in requests of 1, 8 and 32
// documents by increasing numbers of users. First it checks that equal documents get nearly equal scores. If
// the target's dialect generates text, requests are sent to /v1/rerank.
func (o Options) Rerank(b *testing.B, target llmbench.Target) { scenario("Rerank").Run(b, target, o) }

// Routing measures a router with several servers behind it, by prompts with common prefixes: how much the
// servers find in their prefix caches, and the tail of the latency. backends.Fleet and backends.ObserveFleet
// add what the servers themselves know.
func (o Options) Routing(b *testing.B, target llmbench.Target) { scenario("Routing").Run(b, target, o) }

// SLO searches for the highest rate and the highest concurrency at which 95 % of requests meet
// Options.Limits, by default a TTFT of 500 ms and a TPOT of 50 ms.
func (o Options) SLO(b *testing.B, target llmbench.Target) { scenario("SLO").Run(b, target, o) }

// Serve measures the load that the options, or LLMBENCH_CONCURRENCY, LLMBENCH_RATE,
// LLMBENCH_DATASET and so on describe: by default 1 and 8 users with prompts of 512
// tokens and answers of 128. It has no full form.
func (o Options) Serve(b *testing.B, target llmbench.Target) { scenario("Serve").Run(b, target, o) }

// ShareGPT measures real conversations in a closed and in an open loop; the reduced
// form sends random words of the same mean lengths. Full form: studies B and C.
func (o Options) ShareGPT(b *testing.B, target llmbench.Target) {
	scenario("ShareGPT").Run(b, target, o)
}

// Shedding offers a server twice the rate that it can serve. good-req/s is the goodput, by Options.Limits or
// by twice the median TTFT at capacity, and shed-% the share of refused requests.
func (o Options) Shedding(b *testing.B, target llmbench.Target) {
	scenario("Shedding").Run(b, target, o)
}

// StructuredOutput measures answers that have to follow a JSON schema. valid-% is the share of answers that
// conform to the schema.
func (o Options) StructuredOutput(b *testing.B, target llmbench.Target) {
	scenario("StructuredOutput").Run(b, target, o)
}

// Sweep doubles the number of users until the server is full, and reports the knee: the concurrency at
// which output tokens per second / median latency is greatest.
func (o Options) Sweep(b *testing.B, target llmbench.Target) { scenario("Sweep").Run(b, target, o) }

// ToolCalls measures answers that call a function. valid-% is the share of answers whose call conforms to
// the function's schema.
func (o Options) ToolCalls(b *testing.B, target llmbench.Target) {
	scenario("ToolCalls").Run(b, target, o)
}

// Trace replays requests at their recorded times, accelerated by a factor. The full form replays traces of
// Azure and of Mooncake.
func (o Options) Trace(b *testing.B, target llmbench.Target) { scenario("Trace").Run(b, target, o) }

// A Start is one start of a server, timed on the client's monotonic clock.
type Start struct {
	Ready      time.Duration   // from the start until the server was ready to be asked
	FirstToken time.Duration   // from the start until the first token of a completion
	Target     llmbench.Target // the server that was started, for the configuration lines
}

// ColdStart measures how long a server takes to start. Each op calls start once. ColdStart reports the
// means over all ops as start-to-ready-ns and start-to-first-token-ns. start must start the server from
// nothing and remove it, and must end b if something goes wrong. The time of the removal does not count.
// ColdStart fails if several processes measure together.
func ColdStart(b *testing.B, start func(b *testing.B) Start) {
	b.Run("stream=true/concurrency=1", func(b *testing.B) {
		harness.Watch(b)
		if _, shards := harness.Shard(); shards > 1 {
			b.Fatal("one process measures how long a server takes to start: want no LLMBENCH_RENDEZVOUS")
		}
		c, err := coldStart.config()
		if err != nil {
			b.Fatal(err)
		}
		tell(b, c.notes)
		var ready, first time.Duration
		for b.Loop() {
			s := start(b)
			if err := llmbench.Announce(b, s.Target); err != nil {
				b.Fatal(err)
			}
			ready += s.Ready
			first += s.FirstToken
		}
		b.ReportMetric(0, "ns/op") // ns/op would include the removal
		harness.Report(b, float64(ready)/float64(b.N), "start-to-ready-ns")
		harness.Report(b, float64(first)/float64(b.N), "start-to-first-token-ns")
	})
}
