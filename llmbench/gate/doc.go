// Package gate decides whether new benchmark results are worse than old ones by
// more than is allowed. It judges any file in the Go benchmark format, with
// golang.org/x/perf, and knows nothing of what was measured.
//
// [Compare] reads two files and returns a [Report]: a row for each unit of each
// benchmark, and one verdict, which is Pass, Regression or CannotJudge.
//
// # Margins
//
// A unit is gated when a Unit line of either file, or of a file of units, gives
// it a direction and a margin:
//
//	Unit output-tok/s better=higher gate=2%
//	Unit p50-ttft-ns better=lower gate=5%
//
// The directions of ns/op, B/op, allocs/op and MB/s are known. Other units are
// shown and not judged. benchstat reads such lines too, and ignores gate=.
//
// # The test
//
// The old samples are shifted by the margin, times 1+margin where lower is
// better and 1-margin where higher is, and a one-sided Mann-Whitney U test asks
// whether the new ones are worse than that. So the question is not whether
// something differs, but whether it is worse than allowed. The p-values of all
// gated rows together are adjusted by Holm's method: if no row is worse than its
// margin, the probability of a Regression is Alpha at most, 0.025 by default, for
// independent samples of one distribution each.
//
// n samples a side can reject a row only if 1/C(2n,n) <= Alpha/rows: at the
// default it takes 6 up to 23 gated rows, 7 up to 85, 8 up to 321. With fewer the
// verdict is CannotJudge.
//
// Pass means that nothing was shown, which is worth as much as the samples are:
// [Row].Detectable says how large a change would have been found in 80 % of
// comparisons. With 10 samples, 40 gated rows and a standard deviation of 2 %, a
// loss of 5 % in one row is found in
//
//	margin   0 %   0.5 %  0.75 %  0.8 %  1 %   2 %
//	found    92 %  83 %   77 %    76 %   70 %  35 %
//
// of comparisons: a margin takes away from the loss that it stands in front of.
// Of 2,000 comparisons of equals, under each of four kinds of noise, 0.4 % at most
// end in Regression when the margin is 0.5 %, and 2.4 % when it is 0. All of
// these are simulated, by simulate_test.go.
//
// A sample has to be a fresh start of what is measured, old and new in turn. Ten
// -count samples of one server start are one observation, and no test can tell.
//
// # What it refuses to judge
//
// The verdict is CannotJudge, with a [Problem] that says where and why, when
//
//   - a file has a line that cannot be read, or was cut, or holds a run that did
//     not end in PASS, or a failure;
//   - a benchmark is missing on one side, or differs in GOMAXPROCS;
//   - a configuration line (cpu, gpu, model, backend, …) differs between the
//     sides, or among the samples of a benchmark, unless its key is one of
//     [Ignored] or of Options.Ignore;
//   - keys that are ignored make one row of several benchmarks;
//   - a value is NaN or infinite, a gated one negative, or not in every result of
//     its benchmark, or half of the old ones are 0 where higher is better;
//   - Unit lines contradict each other, or have no margin or direction that can
//     be understood;
//   - there are too few samples;
//   - nothing is gated.
//
// It takes no sample out, and pools nothing. A baseline of 0 where lower is
// better allows 0: fail-% from 0 to 3 is a regression.
package gate
