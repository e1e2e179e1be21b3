// Package rowname names the units of benchmarks in words, such as "time per output token, mean, at 8 users". A name has
// only the parts by which a benchmark differs from the others.
package rowname
