// Package env reads the LLMBENCH_ environment variables.
//
// The package holds the list of all variables that exist ([Names]), so that a misspelled variable is an
// error instead of a setting without effect. The package that uses a variable also reads it: it has a
// function that fills a struct from a [Reader], and passes this function to [Register]. [Check] runs every
// registered function. A program calls Check before it sends anything, so that its user learns at once of
// all variables with invalid values.
//
// A variable that is set to the empty string counts as not set.
package env
