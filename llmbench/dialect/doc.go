// Package dialect describes the HTTP APIs of LLM inference servers: the path and
// the body of a request, the meaning of one event of the answer, and the
// conditions under which an answer is complete.
//
// A [Dialect] represents one API. Its [Parser] receives the events of a stream one by one. It fills a
// [Delta] with the text of the event and with everything that the server reported about its work. A program
// can implement [Dialect] and [Parser] for an API of its own.
//
// # What the package refuses to do
//
// The package opens no connection, reads no clock and computes no metric. It
// does not guess: an event that does not have the form its dialect prescribes is
// an error, not an empty delta. It does not count tokens; a count comes from the
// server or is missing. It does not retry and does not repair an answer.
//
// # When an answer is complete
//
// A stream can reach its end although the answer in it is incomplete.
// [Delta.Done] reports the end of the stream: [DONE], or the end marker of the
// dialect. [Parser.End] reports whether the answer is complete:
//
//   - An answer is complete once the server reported why generation ended: by a finish reason, or by
//     the member that replaces one in the dialect ("stop": true, "done": true, generated_text,
//     response.completed). An end marker such as message_stop does not replace it.
//   - [DONE] without a finish reason is enough only if no event had the member for a finish reason. A
//     finish reason that is null or "" means that a real one will follow. If none has come before
//     [DONE], the answer was interrupted. The server of llama-cpp-python interrupts an answer in this
//     way when a second request takes the model.
//   - Some formats do not mark the end of the text (Triton, vLLM's demonstration server). There, a
//     stream with text is complete if its body ended without an error.
//   - Each dialect has a list of its documented finish reasons. They complete an answer, unless they are
//     faults, like an error object: they say that the server gave the answer up ("abort", "error"), filtered
//     it ("content_filter", "refusal", "SAFETY") or found it malformed ("MALFORMED_FUNCTION_CALL"). A fault
//     overrides every sign of a complete answer. Any other finish reason is unknown, see
//     [Delta.UnknownFinish]: the caller must find out from the number of tokens whether the answer is
//     complete. A finish reason such as "null" is none.
//   - Text after the finish reason reopens the answer, which then needs another finish reason. Usage and empty
//     documents do not reopen it, and text after the end marker does not belong to it.
//   - If the body ends without a terminator after the last event, the event is used if it is complete
//     JSON or [DONE]; otherwise the answer is truncated.
//
// # What is not known
//
// A server may add members to its answers. The package lists the members that it knows, and tells the others:
//
//   - A document is an error if it has no member of an answer, but a message or a status of failure.
//   - Any other document without a member of an answer is quoted in [Delta.Strange]. After such a document,
//     [DONE] without a finish reason does not complete the answer.
//   - A member that the dialect does not know, in a place where text may be, is named in [Delta.Unread] if its
//     value may be text and comes before the end of the text.
package dialect
