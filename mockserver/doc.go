// Package mockserver simulates an OpenAI-compatible LLM inference server whose
// token rate is known and which keeps a truthful log of what it sent when. A
// client that measures it can be checked against that log, and so can prove its
// own error.
//
// A [Server] is an http.Handler:
//
//	POST   /v1/chat/completions  streamed or not
//	POST   /v1/completions       streamed or not
//	GET    /v1/models            the one model it serves
//	GET    /health               200 and no body
//	GET    /mock/log             the log as a JSON array of [Entry]
//	DELETE /mock/log             forgets the requests that have ended
//
// # Time
//
// A request arrives when its body has been read to the end. It is admitted
// there and then if a slot is free, else when a slot is given back, first come
// first served. With A the instant of admission and n the prompt tokens, the
// first token is due at A + TTFT + n x PerPromptToken and each further one
// PerToken later. Every wait is until such a deadline, never for a length of
// time, and a slot that was kept busy is handed on at the deadline of the last
// token, not at the instant some goroutine noticed. So lateness does not add
// up: neither within a stream nor along the queue.
//
// A slot does not wait for the network: a client that reads slowly delays its
// own stream only. A client that hangs up leaves the queue, or gives its slot
// back at that instant.
//
// # Tokens
//
// One token is one word with the space before it, so the tokens of a text are
// its words: whoever counts fields (strings.Fields) counts tokens. The same
// holds for prompts; a chat template adds none. The output is the same few words
// over and over, whatever was asked.
//
// # What it does not do
//
// It runs no model and does not batch: a sequence takes as long with 32 others
// as alone. Any model name is accepted, there is one choice only, and sampling
// parameters are ignored. It does not imitate the client's decoder: nothing is
// shared with package llmbench, so that no bug can hide in both.
package mockserver
