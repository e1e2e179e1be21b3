// Package mockserver simulates an LLM inference server whose speed is known: it has a
// fixed token rate, or batches as real servers do. It keeps a log of when it sent each
// token. The results of a client that measures the server can be compared with the log,
// which shows the error of the client.
//
// A [Server] is an http.Handler. It has the paths of several servers, streamed or not,
// all with the same timing and log:
//
//	POST   /v1/chat/completions                  OpenAI's, as vLLM answers it
//	POST   /v1/completions                       the same
//	POST   /v1/responses                         OpenAI's typed events
//	POST   /generate_stream, /generate           TGI
//	POST   /generate                             SGLang, LMDeploy, vLLM's demonstration or MindIE: see [Flavor]
//	POST   /infer                                MindIE's own
//	POST   /completion                           llama.cpp, with its timings
//	POST   /api/chat, /api/generate              Ollama, lines of JSON
//	POST   /v2/models/{model}/generate_stream    Triton; /generate is not streamed
//	GET    /v1/models                            the one model it serves
//	GET    /, /api/version, /api/tags, /api/ps   used by Ollama's clients
//	POST   /api/show                             the same, for any model name
//	GET    /health, /v2/health/ready             200 and no body
//	POST   /tokenize                             vLLM's and llama.cpp's: the ids of a text's words
//	GET    /metrics                              for Prometheus, with vLLM's names
//	POST   /reset_prefix_cache                   vLLM's
//	GET    /mock/log                             the log as a JSON array of [Entry]; the field
//	                                             Mock-Epoch-Unix-Ns is [Server.EpochUnixNano]
//	DELETE /mock/log                             removes the requests that have ended
//
// A [shape.Shape] selects one of the forms that an answer has in practice, and a
// [fault.Fault] spoils some of the requests. The command mockserver takes the names of
// both.
//
// # Time
//
// A request arrives when its body has been read to the end. Every wait is until a
// deadline, never for a length of time. If a request waits for a slot, it gets the slot
// at the deadline of the last token of the request before, not when a goroutine
// notices. So lateness does not add up, neither within a stream nor along the queue.
//
// At a fixed rate, a request is admitted when it arrives if a slot is free, and
// otherwise when a slot becomes free, first come first served. If it is admitted at A
// and its prompt has n tokens, the first token is due at A + TTFT + n x PerPromptToken
// and each further token PerToken later. Other requests have no influence.
//
// With [Config.Engine] the deadlines follow a model of continuous batching.
// Package engine describes the model: queue, KV cache, prefix cache and so on. A timer
// is set to the end of the current step, and wakes the handlers whose tokens are then
// due.
//
// A slot does not wait for the network: a client that reads slowly delays only its own
// stream. A client that hangs up leaves the queue or gives its slot back at that
// instant.
//
// # Tokens
//
// One token is one word with the space before it, in prompts and outputs, so
// strings.Fields counts tokens. A chat template adds none. Prompts share blocks in the
// prefix cache as far as they begin with the same words. The output is a fixed sequence
// of 20 words, repeated, whatever the prompt and the seed, unless [Config.Oracle] knows the right answer to the prompt: then
// the output is the answer, which stop strings do not end, and goes on with the sequence if
// the request asks for a longer output. The id of one of these words is its
// index plus 1000; other words have larger ids. Reasoning, and the arguments of a tool
// call, are made of the same sequence: the text of one field continues where the text of
// the other ends.
//
// # Tool calls and schemas
//
// A request whose tool_choice requires a call gets a call of the named function, or of
// the first. If a call is optional the answer is text, except on Ollama's path, which
// has no tool_choice and answers with a call. A request with a JSON schema gets an
// instance of the schema (OpenAI's chat and Responses API, Ollama, and llama.cpp's
// /completion). Calls and instances are the same each time: they have every property,
// filled with the words above. Each of their words is a token. The finish reason is not
// "length" if the limit leaves room for all of them. Tools do not add to the length of a
// prompt. A schema with more than types, properties, items, choices and simple bounds is
// refused with status 400.
//
// # The server's own timings
//
// The timings in the answers of llama.cpp, Ollama, SGLang and MindIE come from the
// schedule: prefill is the time from admission to the deadline of the first token,
// decode the time from there to the deadline of the last. They can be compared with the
// log.
//
// # The end of a stream
//
// A stream ends as in its dialect: with [DONE] in OpenAI's completions and chat
// completions and on the paths of SGLang and LMDeploy, with response.completed or
// response.incomplete in the Responses API, with generated_text in TGI and MindIE, with
// stop:true in llama.cpp, with done:true in Ollama, and with only the end of the body in
// Triton, vLLM's demonstration server and MindIE's version of that server.
//
// # Limits
//
// The server runs no model. It accepts any model name, has one choice per request, and
// ignores sampling parameters. It shares no code with package llmbench, so that no bug
// can hide in both.
package mockserver
