// Package calibrate fits the engine of a mock server to measured load points, and
// predicts load points to show how well the engine fits.
//
// [Records] and [Results] read what llmbench has measured, [Merge] makes load points
// of it, [Fit] fits the engine of a profile to its points, and [Predict] predicts the
// points that each fit did not see.
//
// A point is predicted by sending its load to an engine in virtual time, as the client
// did that measured the point, and computing the figures as that client does.
//
// # Fit
//
// A fit varies the logarithms of the engine's times and makes the relative errors of the
// client's figures small, by the method of Levenberg and Marquardt with Cauchy's robust
// loss. Each field has an expected value, which it keeps if the points do not determine
// it: a factor of ten away from it costs as much as an error of 6.6 % in one figure.
// Fit.Start of a profile has expected values that follow from the hardware and the
// model. The others are multiples of the time per token at the lightest training point:
// a decode step and a prefill are expected to take as long, a further sequence in the
// batch or token of a prompt a hundredth, and a token in the KV cache a hundred
// thousandth. Counts have fixed expectations. [Fit] names the fields that the points do
// not determine.
//
// # Held-out points
//
// Each point is predicted by an engine that was fitted to the other points of the
// profile. All samples of a load are one point. Of the held-out point the prediction and
// the fit use what its client set: the number of requests, the concurrency, the mean
// length of the prompts, the timeout, and lengths for which the client asked. The
// lengths of outputs and the requests whose output does not end are those that the
// other points of the workload lead to expect. At the other points the measured ones are
// used.
//
// The expected values are not fitted, but some of what a profile calls known was found
// with all points in view: what the client does, and whether the server goes on
// computing a request whose client has gone.
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
