// Package source checks out commits of the repository, and says what the working tree is: its commit, its changes and
// their hash.
package source
