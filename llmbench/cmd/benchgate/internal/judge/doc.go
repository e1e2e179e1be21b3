// Package judge compares files as the command "benchgate old new" does, and prints the report.
package judge
