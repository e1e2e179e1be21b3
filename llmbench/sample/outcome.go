package sample

// An Outcome says how a request ended. A request is successful if its outcome is [OK], and failed if its
// outcome is neither OK nor [Left]. A request that was [Shed] has failed, but fail-% does not count it: shed-%
// does. Latencies and token counts are computed from successful requests only.
type Outcome string

// The outcomes, as records spell them.
const (
	OK          Outcome = "ok"           // the answer was complete
	Connect     Outcome = "connect"      // there was no connection, or it was lost before the answer began
	HTTP        Outcome = "http"         // the status was not 2xx
	Timeout     Outcome = "timeout"      // the deadline of the request passed
	Stalled     Outcome = "stalled"      // the stream had begun, and no output came within the idle timeout
	Truncated   Outcome = "truncated"    // the answer ended before it was complete
	ServerError Outcome = "server-error" // the answer contained an error of the server
	Empty       Outcome = "empty"        // the answer had no event, no token, or no text although more than one token was asked for
	Malformed   Outcome = "malformed"    // the answer was not what the dialect allows
	Canceled    Outcome = "canceled"     // the pass ended early: its deadline passed, or it was interrupted
	Left        Outcome = "left"         // the client left before the end, as the load planned
	Shed        Outcome = "shed"         // the server refused the request because of its load: with status 429 or 529, or 503 and Retry-After, or with an error instead of an answer that states 429, 503 or 529, unless the target names other statuses
)

// A TokenSource says how the number of output tokens of a request was obtained.
type TokenSource string

// The token sources, from the best to the worst, as records spell them.
const (
	FromUsage     TokenSource = "usage"        // the server reported the number, as usage or with its timings
	FromEvents    TokenSource = "events"       // the server reported the number with each event
	FromTokenizer TokenSource = "tokenizer"    // the load's tokenizer counted the text
	FromDeltas    TokenSource = "deltas"       // the number of deltas without [Sample.Heartbeats], each of which may hold several tokens
	FromNothing   TokenSource = "none"         // unknown: the answer was not streamed, and the server reported nothing
	Contradicted  TokenSource = "contradicted" // unknown: the usage of the stream contradicts itself or the deltas, for example because it is not cumulative
	NoOutput      TokenSource = "no-output"    // the answer consists of vectors or scores, and has no output tokens
)
