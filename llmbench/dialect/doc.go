// Package dialect says what each family of inference servers speaks: where a
// request goes and what its body is, what one event of the answer carries, and
// when an answer is whole.
//
// A dialect knows nothing of connections, clocks or metrics. It is handed the
// events of a stream in turn, and says of each what text it carried and what
// the server stated about it. It never guesses: a payload that is not what the
// dialect allows is an error, not an empty delta.
//
// # When an answer is whole
//
// That a stream reached its end and that its answer is whole are two things.
// [Delta.Done] tells the first: [DONE] came, or the dialect's own end marker.
// [Parser.End] tells the second:
//
//   - An answer is whole once the server said why it ended: a finish reason, or
//     the member that stands for one ("stop": true, "done": true, generated_text,
//     response.completed).
//   - [DONE] without a finish reason is enough only where no event had spoken of
//     one. A finish reason that is null or "" says that one is to come; if it
//     is still open at [DONE], the answer was interrupted. That is what
//     llama-cpp-python sends when a second request takes the model away.
//   - Where the format has no word for the end (Triton, vLLM's demonstration
//     server), a stream with text that ended in good order is whole.
//   - A finish reason of "abort" or "error" is a fault, as an error object is,
//     wherever that stands: a fault outweighs every sign of a good end.
//   - An event that the end of the body left unterminated is used if it is whole
//     JSON or [DONE], and else makes the answer truncated.
package dialect
