// Package profiles has engine profiles of real servers. Each profile was fitted to metrics that others measured
// and published.
//
// Each profile is a JSON file whose name is a value of LLMBENCH_MOCK. The file has the metrics and their
// source, what was known before the fit, what the fit found, and the prediction errors at load points that the
// fit did not see. The command calibrate writes the files.
package profiles
