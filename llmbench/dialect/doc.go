// Package dialect says what each family of inference servers speaks: where a
// request goes and what its body is, what one event of the answer carries, and
// when an answer is whole.
//
// A dialect knows nothing of connections, clocks or metrics. It is handed the
// events of a stream in turn, and says of each what text it carried and what
// the server stated about it. It never guesses: a payload that is not what the
// dialect allows is an error, not an empty delta.
package dialect
