// Package backends describes the servers that benchmarks measure.
//
// [Mock] and [URL] are backends: their Start method returns a [llmbench.Target]
// that is ready to answer. Mock is the simulated server, in this process. URL is a
// server that already runs.
//
// [VLLM], [TGI], [SGLang], [LMDeploy], [LlamaCPP], [LlamaCPPPython], [Ollama],
// [TextGen], [OpenLLM], [Xinference], [TensorRTLLM], [MindIE] and [MockContainer]
// are servers that are launched in a container. Each one embeds a [Container] and
// has a field for each setting that matters to a benchmark. The types only
// describe the server: its image, arguments, health check and metrics. Package
// backends/container launches it, so that this package needs no Docker client.
package backends
