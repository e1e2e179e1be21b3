// Package mockserver simulates an LLM inference server whose speed is known, at a
// fixed token rate or batching as real ones do, and which keeps a truthful log of
// what it sent when. A client that measures it can be checked against that log,
// and so can prove its own error.
//
// A [Server] is an http.Handler. It speaks what the servers speak, each on its
// own path, streamed or not, and all with the same pace and the same log:
//
//	POST   /v1/chat/completions                  OpenAI's, as vLLM writes it
//	POST   /v1/completions                       the same
//	POST   /v1/responses                         OpenAI's typed events
//	POST   /generate_stream, /generate           TGI
//	POST   /generate                             SGLang, LMDeploy, vLLM's demonstration or MindIE: see [Flavor]
//	POST   /infer                                MindIE's own
//	POST   /completion                           llama.cpp, with its timings
//	POST   /api/chat, /api/generate              Ollama, lines of JSON
//	POST   /v2/models/{model}/generate_stream    Triton; /generate is not streamed
//	GET    /v1/models                            the one model it serves
//	GET    /, /api/version, /api/tags, /api/ps   what Ollama's clients ask
//	POST   /api/show                             the same, of any model
//	GET    /health, /v2/health/ready             200 and no body
//	POST   /tokenize                             vLLM's and llama.cpp's: ids of a text's words
//	GET    /metrics                              for Prometheus, under vLLM's names
//	POST   /reset_prefix_cache                   vLLM's
//	GET    /mock/log                             the log as a JSON array of [Entry]; the field
//	                                             Mock-Epoch-Unix-Ns is [Server.EpochUnixNano]
//	DELETE /mock/log                             forgets the requests that have ended
//
// What servers and the proxies before them do differently within a dialect is a
// [Shape], and what goes wrong with single requests is a [Fault]. Both have
// names, which the command mockserver takes, too.
//
// # Time
//
// A request arrives when its body has been read to the end. Every wait is until a
// deadline, never for a length of time, and a slot that was kept busy is handed on
// at the deadline of the last token, not at the instant some goroutine noticed. So
// lateness does not add up: neither within a stream nor along the queue.
//
// At a fixed rate, a request is admitted there and then if a slot is free, else
// when a slot is given back, first come first served. With A the instant of
// admission and n the prompt tokens, the first token is due at
// A + TTFT + n x PerPromptToken and each further one PerToken later, whatever else
// is going on.
//
// With [Config.Engine] the deadlines are those of a server that batches: see
// package engine for what it models, queues, KV cache, prefix cache and all. A
// timer is set to the end of the step that is being computed, and one goroutine
// then wakes the handlers whose tokens are out.
//
// A slot does not wait for the network: a client that reads slowly delays its
// own stream only. A client that hangs up leaves the queue, or gives its slot
// back at that instant.
//
// # Tokens
//
// One token is one word with the space before it, so the tokens of a text are
// its words: whoever counts fields (strings.Fields) counts tokens. The same
// holds for prompts; a chat template adds none. Prompts share blocks in the prefix
// cache as far as they begin with the same words. The output is the same few words
// over and over, whatever was asked. A token's id is its place among those words
// plus 1000, that of a word of a prompt which is not among them is beyond.
// Reasoning and the arguments of a tool call are made of the same
// tokens: their text goes on where the other field's stopped.
//
// # Tool calls and schemas
//
// A request that has to call a tool, as its tool_choice says, gets a call of the one
// that it names, or of the first; one that may is answered in words, but by Ollama's
// endpoint, which knows no such choice, with a call. One with a JSON schema gets an
// instance of it (OpenAI's chat and Responses API, Ollama, and schemas in llama.cpp's
// /completion). Either is the same each time: every
// property, filled with the words above. Its tokens are its words too, and the
// finish reason is not "length" if the limit leaves room for it. Tools add nothing to
// the length of a prompt. A schema that says more than types, properties, items,
// choices and simple bounds is refused with status 400.
//
// # What the server says of itself
//
// Timings in an answer, as llama.cpp, Ollama, SGLang and MindIE give them, are
// those of the schedule: prefill is the time from admission to when the first
// token is due, decoding that from there to when the last is. A client can check
// them against the log.
//
// # The end of a stream
//
// Streams end with whatever their dialect has: [DONE] in OpenAI's two and in
// SGLang's and LMDeploy's, response.completed or response.incomplete in the
// Responses API, generated_text, stop:true and done:true in TGI's and MindIE's,
// llama.cpp's and Ollama's, and nothing but the end of the body in Triton's, in
// those of vLLM's demonstration and in MindIE's version of that.
//
// # What it does not do
//
// It runs no model. Any model name is accepted, there is one choice only, and sampling
// parameters are ignored. It does not imitate the client's decoder: nothing is
// shared with package llmbench, so that no bug can hide in both.
package mockserver
