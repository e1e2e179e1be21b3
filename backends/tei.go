package backends

import (
	"github.com/seed-2b9cec6d/llmbench/backends/internal/launch"
	"github.com/seed-2b9cec6d/llmbench/backends/internal/probe"
	"github.com/seed-2b9cec6d/llmbench/backends/metrics"
	"github.com/seed-2b9cec6d/llmbench/llmbench/dialect"
)

// TEI is Hugging Face's text-embeddings-inference
// (https://huggingface.co/docs/text-embeddings-inference/cli_arguments). It generates no text. Dialect is one
// for inputs; nil and OpenAI chat mean [dialect.Embeddings]. A model that ranks needs [dialect.TEIRerank].
//
// TEI refuses requests of more than MaxClientBatchSize inputs. It cuts texts that are too long for the model
// without notice, unless AutoTruncate is off or the request forbids it, as the dialects tei-embed and
// tei-rerank do. It has no default image for AMD.
type TEI struct {
	Container
	DType                 string `flag:"--dtype" values:"float16 float32"`                 // default float32 on a CPU, float16 otherwise
	Pooling               string `flag:"--pooling" values:"cls mean splade last-token"`    // default as the model says
	MaxConcurrentRequests int    `flag:"--max-concurrent-requests"`                        // requests waiting or running; the server refuses further ones; default 512
	MaxBatchTokens        int    `flag:"--max-batch-tokens"`                               // tokens in a batch; default 16384
	MaxBatchRequests      int    `flag:"--max-batch-requests"`                             // inputs in a batch; by default no limit
	MaxClientBatchSize    int    `flag:"--max-client-batch-size"`                          // inputs of a request; default 32
	TokenizationWorkers   int    `flag:"--tokenization-workers"`                           // threads that split texts into tokens; default one for each core
	AutoTruncate          Toggle `flag:"--auto-truncate true" off:"--auto-truncate false"` // default on; with off the server does not start if MaxBatchTokens is less than a text may have
}

// Spec describes how the server is launched; the error names each invalid field.
func (t TEI) Spec() (launch.Spec, error) {
	const image = "ghcr.io/huggingface/text-embeddings-inference:"
	b := newBuilder(t.Container, "tei", image+"cpu-1.9.3", 80)
	b.grantGPUs(launch.NVIDIA)
	b.imageFor(map[string]string{launch.NVIDIA: image + "cuda-1.9.3", "": image + "cpu-1.9.3"})
	b.ModelsPath, b.ListedModel = "", "" // TEI lists no models, and accepts any name in requests
	b.args("--model-id", b.path, "--port", "80")
	b.downloadTo("tei", "/data")
	b.withRevision("--revision")
	b.offlineInFolder()
	if t.ModelsDir == "" {
		b.Commit = probe.Field{Path: "/info", Name: "model_sha"}
	}
	switch d := t.Dialect.(type) {
	case nil, dialect.OpenAIChat:
		b.Dialect = dialect.Embeddings{}
	case dialect.ItemsDialect:
	default:
		b.invalid("Dialect", "%q: want one for embeddings or rankings, such as embeddings, tei-embed or tei-rerank, because the server generates no text", d.Name())
	}
	if t.Quantization != "" {
		b.invalid("Quantization", "%q: want none, because this server has no such setting", t.Quantization)
	}
	b.fields(t)
	b.Version = probe.Field{Path: "/info", Name: "version"}
	b.Metrics = t.Metrics()
	b.Failures = []launch.Failure{
		{Log: `Could not download model artifacts`, Advice: "the model could not be fetched: check Model and HF_TOKEN, or set ModelsDir"},
		{Log: `Could not create backend`, Advice: "the model does not fit this server or its device: the cause is in the lines above"},
		{Log: `1_Pooling/config\.json.\) for this model\.`, Advice: "the model does not say how to pool: set Pooling"}, // a similar line is a warning
	}
	return b.finish()
}

// Metrics returns the names of TEI's metrics
// (https://huggingface.co/docs/text-embeddings-inference/en/metrics).
func (TEI) Metrics() metrics.Names {
	return metrics.Names{Path: "/metrics", QueueTime: metrics.Alternatives{"te_request_queue_duration"}}
}
