// Package files compares files as the command "benchgate old new" does, and prints the report.
package files
