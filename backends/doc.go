// Package backends provides the servers that benchmarks measure. Each is a
// struct that says all about one kind of server; its Start gives a
// [llmbench.Target] that is ready: a server of somebody else's has answered a
// real completion. What Start started stops when the test or benchmark ends.
//
// # Servers in containers
//
// [VLLM], [TGI], [SGLang], [LMDeploy], [LlamaCPP], [LlamaCPPPython], [Ollama],
// [TextGen], [OpenLLM], [Xinference], [TensorRTLLM], [MindIE] and
// [MockContainer] run in a container of a Docker engine on this machine. They
// embed a [Container], and have a field for each setting that matters to a
// benchmark. A start goes through the stages of [Deadlines]; what went wrong in
// one is told with the last lines of the server's log, and what to do about it if
// it is a failure that is known.
//
// A server's port is published on 127.0.0.1 and nowhere else; on Linux it is
// measured on the container's own address, past Docker's proxy. The
// configuration lines of its results say what is comparable: image and digest,
// version, model, GPU, settings.
//
// A GPU is given to a server that asks for it, and a start fails when it cannot
// be. Containers of processes that were killed are removed by the next one.
package backends
