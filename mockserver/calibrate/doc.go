// Package calibrate fits the engine of a mock server to measured load points, and
// says how far off its predictions are of points that it has not seen.
//
// A point is predicted by sending its load to an engine as the client did that
// measured it, in virtual time, and computing the figures as that client does.
// The fit is Nelder and Mead's simplex on the logarithms of the engine's times,
// which minimizes a robust squared relative error of the client's figures. The
// error is that of k folds: each is predicted by an engine that was fitted to the
// others, with what must be known of the workload (how output lengths are spread)
// taken from the others, too.
//
// # EvalScope of October 2024
//
// Most published sweeps were measured with a client whose habits show in the
// figures, so the client "evalscope" has them: its collector looks once a second,
// requests per second are counted up to the last answer or failure and tokens up
// to the last success, percentiles are values of the sorted list, and a worker
// whose first request times out dies, and that request is in no counter. At
// overload its concurrency shrinks for good. None of that is the server's doing,
// and none of it is in the engine.
package calibrate
