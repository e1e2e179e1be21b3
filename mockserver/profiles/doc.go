// Package profiles has engine profiles of servers that others have measured, fitted
// to the published figures.
//
// Each profile is a JSON file. Its name is a value of LLMBENCH_MOCK. The file has the
// figures and their source, what was known before the fit and what the fit found, and
// the errors of the predictions of load points that the fit did not see. The command
// calibrate writes the files.
package profiles
