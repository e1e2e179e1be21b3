// Package calibrate fits the engine of a mock server to measured load points, and
// predicts load points to show how well the engine fits.
//
// [Records] and [Results] read what llmbench has measured, [Merge] makes load points
// of it, [Fit] fits the engine of a profile to its points, and [Predict] predicts the
// points that each fit did not see.
//
// A point is predicted by sending its load to an engine in virtual time, as the client
// did that measured the point, and computing the figures as that client does. The fit
// is the simplex method of Nelder and Mead on the logarithms of the engine's times
// (https://doi.org/10.1093/comjnl/7.4.308). It minimizes a robust mean of squared
// relative errors of the client's figures. The held-out errors are those of k folds:
// the points of each fold are predicted by an engine that was fitted to the other
// points. The distribution of output lengths is taken from those other points, too.
//
// # EvalScope of October 2024
//
// Most published sweeps were measured with a version of EvalScope whose behaviour
// shows in the figures, so the client "evalscope" has the same behaviour. Its
// collector looks for results once a second. Requests per second are counted up to
// the last answer or failure, but tokens per second up to the last success.
// Percentiles are values of the sorted list. A worker whose first request times out
// dies, and that request is in no counter, so that under overload the concurrency
// shrinks for good. The server does none of this, and neither does the engine.
package calibrate
