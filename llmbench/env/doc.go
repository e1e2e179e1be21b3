// Package env reads the LLMBENCH_ environment variables.
//
// The package owns the list of all variables that exist ([Names]), so that a
// misspelled variable is an error instead of a setting without effect. Each
// variable is read by the package that uses it, with a function that fills a
// struct from a [Reader] and that the package also hands to [Register].
// [Check] runs every registered function: a program calls it before it sends
// anything, and learns of all the variables that cannot be used at once.
//
// A variable that is set to the empty string counts as not set.
package env
