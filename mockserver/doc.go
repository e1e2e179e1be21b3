// Package mockserver simulates an LLM inference server whose speed is known: the server
// has a fixed token rate, or batches requests as real servers do. The server logs when it
// sent each token. To find the measurement error of a client, compare the client's
// results with the log.
//
// A [Server] is an http.Handler. It answers on the paths of several real servers, with or
// without streaming. Timing and log are the same on all paths:
//
//	POST   /v1/chat/completions                  OpenAI's, in vLLM's form
//	POST   /v1/completions                       the same
//	POST   /v1/responses                         OpenAI's typed events
//	POST   /v1/messages                          Anthropic's named events
//	POST   /v1beta/models/{model}:streamGenerateContent
//	                                             Gemini, as with alt=sse;
//	                                             :generateContent is not streamed; also below Vertex AI's
//	                                             /v1/projects/…/models/{model} and /models/{model}
//	POST   /model/{model}/converse-stream        Amazon Bedrock, binary messages; /converse is not streamed
//	POST   /model/{model}/invoke-with-response-stream
//	                                             Amazon Bedrock with a model of Anthropic; /invoke
//	POST   /v2/chat                              Cohere's named events
//	POST   /generate_stream, /generate           TGI
//	POST   /generate                             SGLang, LMDeploy, vLLM's demonstration or MindIE: see [Flavor]
//	POST   /infer                                MindIE's own
//	POST   /completion                           llama.cpp, with its timings
//	POST   /api/chat, /api/generate              Ollama, lines of JSON
//	POST   /v2/models/{model}/generate_stream    Triton; /generate is not streamed
//	POST   /v1/embeddings                        OpenAI's: vectors of texts
//	POST   /v1/rerank, /v2/rerank                Cohere's and Jina's: scores of documents
//	POST   /score, /classify                     vLLM's
//	POST   /embed, /rerank                       TEI's (Text Embeddings Inference)
//	POST   /api/embed                            Ollama's
//	GET    /v1/models                            the one model it serves, and its LoRA adapters
//	GET    /, /api/version, /api/tags, /api/ps   used by Ollama's clients
//	POST   /api/show                             the same, for any model name
//	GET    /health, /v2/health/ready             200 and no body
//	POST   /tokenize                             vLLM's and llama.cpp's: the ids of a text's words
//	GET    /metrics                              for Prometheus, with vLLM's names
//	POST   /reset_prefix_cache                   vLLM's
//	GET    /mock/log                             the log as a JSON array of [Entry]; the field
//	                                             Mock-Epoch-Unix-Ns is [Server.EpochUnixNano]
//	DELETE /mock/log                             removes the entries of finished requests
//
// A [shape.Shape] selects the form of the answers, because real servers differ in it. A
// [fault.Fault] makes some of the answers wrong or incomplete. The flags -shape and -fault
// of the command mockserver take the names of shapes and faults.
//
// # Time
//
// A request arrives when its body has been read to the end. Every wait is until a
// deadline, never for a duration. A slot is room for one request that is being served. A
// request that waits for a slot gets the slot at the instant at which the last token of
// the slot's previous request is due, even if a goroutine notices later. So delays do not
// add up, neither within a stream nor along the queue.
//
// At a fixed rate, a request is admitted when it arrives if a slot is free, and
// otherwise when a slot becomes free, first come first served. If a request is admitted
// at A and its prompt has n tokens, the first token is due at A + TTFT + n x PerPromptToken
// and each further token PerToken later. Other requests do not change these deadlines.
//
// With [Config.Engine] the deadlines follow a model of continuous batching.
// Package engine describes the model: queue, KV cache, prefix cache and so on. A timer
// fires at the end of the current step and wakes the handlers whose tokens are due.
//
// A slot does not wait for the network: a client that reads slowly delays only its own
// stream. When a client hangs up, its request leaves the queue or frees its slot at once.
//
// # Tokens
//
// One token is one word with the space before it, in prompts and outputs, so
// strings.Fields counts tokens. A chat template adds no tokens. Prompts that begin with
// the same words share the blocks of these words in the prefix cache.
//
// The output is a fixed sequence of 20 words, repeated. It does not depend on the prompt
// or the seed. If [Config.Oracle] knows the right answer to the prompt, the output is the
// answer instead. Stop strings do not end an answer. If the request asks for more tokens
// than the answer has, the fixed sequence follows.
//
// The id of a word of the fixed sequence is its index plus 1000; other words have larger
// ids. Reasoning and the arguments of a tool call consist of the same sequence: the second
// field continues the sequence where the first field ends.
//
// # Tool calls and schemas
//
// If tool_choice requires a call, the answer is a call of the function that tool_choice
// names, or of the first function in the request. If a call is optional, the answer is
// text. Ollama's API has no tool_choice, so there a request with tools always gets a call.
//
// A request with a JSON schema gets an instance of the schema. This works in OpenAI's chat
// and Responses APIs, in the APIs of Anthropic, Google, Amazon, Cohere and Ollama, and in
// llama.cpp's /completion. A schema may have types, properties, items, choices and simple bounds; a
// schema with other keywords is refused with status 400.
//
// The same request always gets the same call or instance. It has every property of the
// schema, filled with the words above, and each of its words is a token. The finish reason
// is "length" only if the limit cuts the call or the instance off. Tools do not count as
// tokens of the prompt.
//
// # Vectors and scores
//
// The answer to a request for embeddings or for a ranking is one JSON document. It is due when the tokens of
// all inputs have been processed, as the first token of a completion would be. For a ranking, the tokens of
// the query count for each document, because a model reads the two together. The log has no tokens for such
// a request; End is when the answer was written.
//
// A vector has 384 elements, or as many as the field dimensions asks for, and the length 1. It depends only
// on its text: equal texts have equal vectors, and the vectors of different texts are nearly perpendicular.
// The probabilities of /classify are of two classes. A score is the share of the query's words that the
// document has, times 0.9, plus up to 0.1 that depends on the document's text.
//
// # The server's own timings
//
// The answers of llama.cpp, Ollama, SGLang and MindIE contain timings. The mock server
// computes them from the deadlines of the tokens: prefill is the time from admission to
// the deadline of the first token, and decode is the time from the first token's deadline
// to the last token's. Clients can compare the timings with the log.
//
// # The end of a stream
//
// A stream ends as its dialect (the server's API) prescribes:
//
//	OpenAI's chat and completions, SGLang, LMDeploy   [DONE]
//	Cohere                                            message-end, then [DONE]
//	Responses API                                     response.completed or response.incomplete
//	Anthropic's Messages API                          message_stop
//	TGI, MindIE                                       an event with generated_text
//	llama.cpp                                         an event with "stop":true
//	Ollama                                            a line with "done":true
//	Gemini                                            a response with finishReason, and the end of the body
//	Amazon Bedrock                                    metadata or message_stop, and the end of the body
//	Triton, vLLM's demonstration server and MindIE's
//	version of that server                            only the end of the body
//
// # Signatures
//
// With [Config.AWS], requests to the paths of Amazon Bedrock must be signed with these keys (Signature Version
// 4). The answer to any other request has status 403 and the exception that AWS's clients know, such as
// InvalidSignatureException. A profile in JSON has the keys in "aws".
//
// # Several servers
//
// A [Fleet] is several servers in one process, such as the replicas behind a router. Package router has
// routers to compare others with. A [Usage] sums up a log: which requests found a full or a dead server, how
// much of the prompts was cached, and how long the queue was at their arrival.
//
// # Limits
//
// The server runs no model. It accepts any model name, has one choice per request, and
// ignores sampling parameters. It shares no code with package llmbench: a bug in common
// code would make the same mistake on both sides, and no test would see it.
package mockserver
