// Package calibrate fits the engine of a mock server to measured load points. It also predicts load points, to
// show how well the engine fits. A load point is a load, such as a concurrency and a prompt length, with the
// metrics that were measured for it.
//
// [Records] and [Results] read measurements of llmbench, and [Merge] turns them into load points. [Fit] fits
// the engine of a profile to its points. [Predict] predicts each point with an engine that was fitted without
// the point.
//
// To predict a point, the package sends the point's load to an engine in virtual time, in the same way as the
// client that measured the point. It then computes the metrics in the same way as that client.
//
// # Fit
//
// A fit varies the logarithms of the engine's times so that the relative errors of the client's metrics become
// small. It uses the method of Levenberg and Marquardt with Cauchy's robust loss. Each field has an expected
// value, which it keeps if the points do not determine the field. A field that differs from its expected value
// by a factor of ten costs as much as an error of 6.6 % in one metric.
//
// A profile's Fit.Start has expected values that follow from the hardware and the model. All other times are
// expected to be multiples of the time per token at the training point with the lightest load. For a decode
// step and for a prefill, the multiple is one. For each further sequence in the batch and for each token of a
// prompt, it is a hundredth. For each token in the KV cache, it is a hundred thousandth. Counts have fixed
// expected values. [Fit] names the fields that the points do not determine.
//
// # Held-out points
//
// Each point is predicted by an engine that was fitted to the profile's other points. All samples of a load are
// one point. The fit and the prediction know only what the client of the held-out point set: the number of
// requests, the concurrency, the mean prompt length, the timeout, and the lengths for which the client asked.
// The output lengths of the held-out point, and which of its requests never end, are estimated from the other
// points of the workload. The other points keep their measured values.
//
// The expected values are not fitted. But some facts that a profile lists as known were found by looking at all
// points: how the client behaves, and whether the server continues a request whose client has disconnected.
//
// # EvalScope of October 2024
//
// Most published sweeps were measured with a version of EvalScope that has the following peculiarities. They
// influence the metrics, so the client "evalscope" imitates them. EvalScope looks for results once a second. It
// counts requests per second up to the last response or failure, but tokens per second up to the last success.
// Its percentiles are elements of the sorted list. A worker whose first request times out dies, and the request
// is in no counter. Under overload, the concurrency therefore shrinks and never recovers. These are
// peculiarities of the client; neither the server nor the engine has them.
package calibrate
