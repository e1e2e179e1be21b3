// Package gate decides whether new benchmark results are worse than old ones by
// more than is allowed. It compares files in the Go benchmark format, with
// golang.org/x/perf. It does not know what was measured.
//
// [Compare] reads two files and returns a [Report]. The report has a row for each
// unit of each benchmark, and one verdict: Pass, Regression or CannotJudge.
//
// # Margins
//
// A unit is gated if a Unit line gives it a direction and a margin. Unit lines may
// stand in either file, or in a separate file of units:
//
//	Unit output-tok/s better=higher gate=2%
//	Unit p50-ttft-ns better=lower gate=5%
//
// ns/op, B/op, allocs/op and MB/s need no better=. A unit without a margin is shown
// and not judged. benchstat reads such lines too, and ignores gate= and same=.
//
// # What must be equal
//
// Some units say what was measured rather than how well it went, such as the mean
// length of an answer. The key same= gives such a unit a tolerance: a percentage of
// the larger median, or an amount in the unit.
//
//	Unit out-tok/req same=2%
//	Unit cached-% same=5
//
// If the medians of the unit differ by more in a benchmark with a gated unit, the
// verdict is CannotJudge. A result without a value of the unit counts as 0. If samples
// are still being added, the medians are compared at the interim look and at the end;
// before the end, unlike medians keep the comparison from an early Pass.
//
// # The test
//
// The old samples are shifted by the margin: multiplied by 1+margin if lower is
// better, by 1-margin if higher is better. A one-sided Mann-Whitney U test then
// decides whether the new samples are worse than the shifted old ones. So the test
// asks whether new is worse than allowed, not whether new differs. Holm's method
// adjusts the p-values of all gated rows together: if no row is worse than its
// margin, the probability of a Regression is at most Alpha, 0.025 by default. This
// holds for samples that are independent and equally distributed within each side.
//
// n samples a side can reject a row only if 1/C(2n,n) <= Alpha/rows. By default, the
// minimum is 6 samples for up to 23 gated rows, 7 for up to 85 and 8 for up to 321.
// With fewer samples the verdict is CannotJudge.
//
// Pass means that no regression was shown. How much that is worth depends on the
// samples: [Row].Detectable states the change that would have been found in 80 % of
// comparisons. With 10 samples a side, 40 gated rows and a standard deviation of 2 %,
// a loss of 5 % in one row is found in these shares of comparisons:
//
//	margin   0 %   0.5 %  0.75 %  0.8 %  1 %   2 %
//	found    92 %  83 %   77 %    76 %   70 %  35 %
//
// A wider margin finds less. In 2,000 comparisons of equal versions, under each of
// four kinds of noise, at most 0.4 % end in Regression if the margin is 0.5 %, and
// 2.4 % if the margin is 0. simulate_test.go simulates these figures.
//
// Each sample must be a fresh start of what is measured, with old and new in turn.
// Ten -count samples of one server start are one observation, and no test can
// detect that mistake.
//
// # What the package refuses to judge
//
// The verdict is CannotJudge, with a [Problem] that states the place and the reason,
// if
//
//   - a file has a line that cannot be parsed, is truncated, or has a run that failed
//     or did not end in PASS;
//   - one file lacks a benchmark, or GOMAXPROCS differs;
//   - a configuration line (cpu, gpu, model, backend, …) differs between the files or
//     between the samples of a benchmark, unless [Ignored] or Options.Ignore has its
//     key;
//   - the medians of a unit with same= differ by more than its tolerance;
//   - ignored keys put several benchmarks into one row;
//   - a value is NaN or infinite, or a gated value is negative or missing in a result
//     of its benchmark, or the median of the old values is 0 and higher is better;
//   - Unit lines contradict each other, or a margin, direction or tolerance is invalid;
//   - there are too few samples;
//   - no unit is gated.
//
// The package removes no outliers and pools no rows. If lower is better, a baseline
// of 0 allows only 0: fail-% from 0 to 3 is a regression.
package gate
