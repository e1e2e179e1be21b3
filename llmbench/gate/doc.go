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
// are still being added, differing medians are a verdict at looks only; between looks, they only
// block an early Pass.
//
// # Pairs
//
// Samples should be taken in pairs: old and new one after the other, in random order, again
// and again, each from a fresh start of what is measured. Options.NewFirst says so, as
// benchgate ab does. The old samples are shifted by the margin: multiplied by 1+margin if
// lower is better, by 1-margin if higher is better. So the test asks whether new is worse than
// allowed, not whether new differs.
//
// The test is a permutation test. If new is worse by exactly the margin, only the random order
// decides which sample of a pair is called new. So the difference of a pair could as well have
// the other sign. The statistic of a row is the mean of its differences divided by the root of
// their mean square. Differences of more than twice their median, without signs, count as
// twice the median, so that a few disturbed processes hide nothing. The p-value is the share of
// all 2^n exchanges of old and new (of a group of 4096 of them, for more than 12 pairs) after which
// the statistic is at least as large. What disturbs both samples of a pair cancels. So does a
// steady drift: half the way from the round before to the round after is subtracted from each
// difference, if the differences then spread less.
//
// Exchanges change neither the limit of the differences nor the estimate of the drift nor the
// choice between the two. So the test is exact for every disturbance of the machine that does not
// depend on which version runs, even for one with the period of a round, because the order is
// random. If new is worse by less than the margin, or better, false alarms are rarer, provided
// that large differences between equal versions are rarer than small ones.
//
// Limiting the differences has a price. The test compares what is typical. A change that concerns
// few processes, such as one start of five that is much slower, looks like a disturbance.
//
// The p-values are adjusted for all gated rows together: the p-value of a row is the share of
// exchanges of whole rounds after which the largest statistic of any row is at least the statistic of the
// row (step-down maxT of Westfall and Young). If no row is worse than its margin, the
// probability of a Regression is at most Alpha, 0.025 by default. Holm's method would need
// 2^n >= rows/Alpha, which is 13 rounds for 200 rows. Here six rounds can be enough for any
// number of rows, but take eight or more: 0.025 of the 64 exchanges of six rounds is a single
// one, and rows that are far better than their margin often need one more.
//
// Results of one file are pairs, too, if what they measured took turns in a process. A unit with pairs=yes says
// so, and which results belong together: those with the same value.
//
//	Unit arms-seed pairs=yes
//
// [CompareColumns] compares such results by the same test, for each process a pair. The order of the turns must be
// random. No drift is subtracted, because both sides of a pair are spread over the same time. A pair whose other half
// is missing, and rows of which only some are pairs, end with CannotJudge.
//
// # Other samples
//
// Samples that are not pairs are compared by Welch's t-test of means from which a tenth of the
// samples at each end is trimmed (Yuen's test), and Holm's method. The test allows different
// numbers of samples and different spreads. It is approximate. With 30 against 8 samples at
// four times the spread, and 100 against 10 samples at five times, 2.3 % and 2.0 % of
// comparisons of one row without a margin are false alarms; the largest share of all settings
// that TestUnpaired of package decide simulates is 2.5 %, for 12 rows of 30 against 8. The test
// knows nothing of drift, nor of noise that is correlated from sample to sample.
//
// # Missing values
//
// A program may withhold a value that it does not trust, so that some results lack a unit. A unit
// that is not gated never keeps rows from being judged. Results that lack a gated unit are left out; of
// pairs, both results are. The report names the row, and how many results have the value.
//
// The values that are missing may be the worst of their side. If both versions lack values for the
// same reason, the test of pairs stays exact, because a pair is left out whichever of its results lacks
// the value. If one version lacks more, the rest flatters that version. So a row is CannotJudge if more
// than a fifth of the results of a side lack the value; another row may still be a Regression. A version
// that is worse only in so few processes would not be found in complete samples either, where these count
// as disturbed. While samples are still being added, such a row is undecided, and so is a row that new
// lacks in all results.
//
// The table is the output of TestWithheld of package decide. One value of ten is 30 % larger than the
// others, and such values are withheld on both sides, or on one of them. The shares are of 2,000
// comparisons of ten pairs, with a standard deviation of 1 % and a margin of 2 %: those that are
// refused, and of the others those that find a regression. The figure for values that only old lacks
// would be 2.5 % if both sides lacked them.
//
//	withheld               refused     equal  2% worse  5% worse
//	nothing                   0.0%      0.0%      2.8%     38.5%
//	on both sides            12.4%      0.0%      2.2%     98.8%
//	only old                  6.6%      0.0%      5.8%     98.7%
//	only new                  6.3%      0.0%      1.3%     38.1%
//
// # Proportions
//
// A margin in percentage points is for a percentage of observations, such as the share of right answers:
//
//	Unit accuracy-% better=higher gate=2pp of=checked-req apart=question-set
//
// The unit after of= is the number of observations. The counts of all samples of a side are added, and
// the test is one of counts: the exact unconditional test of two binomial proportions with the score of
// Farrington and Manning (Chan, 1998), whose p-value is the largest over a confidence interval of the unknown
// rate (Berger and Boos, 1994). NoWorse is the same test in the other direction. Such rows get a fifth of
// Alpha if there are other gated rows, which then get four fifths, and Holm's method divides the fifth among
// them. The order of the samples does not matter.
//
// Counts can be added if observations are independent. A server with greedy sampling repeats its answer
// to a question, so ten processes that ask the same questions are one observation. So each process must
// ask other questions. The unit after apart= tells: if two samples of a side have the same value of it, the
// verdict is CannotJudge. The two samples of a pair may have the same questions. The test does not use that;
// it is then conservative.
//
// A row whose counts allow an error of more than the margin (Row.Noise, from the exact test, which is
// above 0 even if all answers are right) is CannotJudge unless it is a Regression, whatever Options.RequireQuiet is.
//
// The table is the output of TestProportions of package decide with LLMBENCH_FULL=1: shares of
// comparisons that find a regression, with a margin of 2 percentage points, 10 samples a side of 200 questions
// each, and the looks of benchgate ab. The first two lines are of 2,000 comparisons for each accuracy, the
// others of 500. "Other rows" means that the family has gated rows that are no proportions. The last line
// shows why equal questions are refused: each side has 200 answers, and counts them ten times.
//
//	old accuracy                           50%     80%     90%     95%     99%
//	equal                                 0.1%    0.0%    0.0%    0.0%    0.0%
//	worse by the margin                   2.1%    2.4%    2.5%    1.6%    1.6%
//	worse by 5 points                    41.4%   62.6%   79.2%   94.6%  100.0%
//	worse by 5 points, other rows        22.4%   38.0%   60.0%   84.0%  100.0%
//	equal, the same questions            14.2%   11.0%    8.8%    6.2%    0.2%
//
// # Looks
//
// benchgate ab compares after each round. With Options.Planned, a Regression is found only at
// the looks that Options.Looks returns: after eight tenths of the planned rounds, at their end
// and, if Options.Max is more, after each further two fifths up to Max. Every look but the
// last spends a fifth of Alpha, or less if there are more than five, and the last one spends
// the rest. The sum limits the probability of a false alarm (Bonferroni). A look is left out
// if its part of Alpha is less than 1/2^n. The comparison is settled at a Regression, and when no
// row is undecided: when each row is NoWorse at a look, or could not become a Regression even if
// all further rounds were worse.
//
// # Verdicts of rows
//
// A row is a Regression if its adjusted p-value is at most the Alpha of the look. Otherwise
// it is NoWorse if the samples show that it is worse by at most its margin, or better:
// [Row].Bound, the confidence bound of its change, is within the margin. Otherwise nothing is
// shown. Then the row is CannotJudge if Options.RequireQuiet is set, as in benchgate ab, and
// its noise is more than its margin; [Row].Wanted states about how many samples it would need. It is
// also CannotJudge if too many results lack its unit ([Row].Lacks).
// Otherwise it is Pass, and [Row].Detectable states the change that would have been found in
// 80 % of comparisons.
//
// A Regression of one row is the verdict, however noisy the other rows are. Without one, a row
// that is CannotJudge makes the verdict CannotJudge. Options.RequireNoWorse also requires that
// each row is NoWorse.
//
// # Simulations
//
// The tables in this section are the output of
//
//	LLMBENCH_FULL=1 go test -timeout=2h ./llmbench/gate/internal/decide
//
// They simulate benchgate ab with its looks and its rule for noise.
// "Disturbed rows" have values of which one of 20 is 30 % larger. Under "disturbed processes" and the
// lines from "linear drift" on, all rows of a process have a factor in common: 1.3 in one process of 20,
// a drift of 10 %, correlated noise, a machine that changes between two states that
// differ by 10 %, and a sine with an amplitude of 10 % and a period of so many processes.
//
// False alarms are most frequent in comparisons of equal versions with a margin of 0. The
// figures are means over 6, 10, 15 and 25 rounds and standard deviations of a row of 0.3, 1 and 5 %;
// their standard error is 0.1 %. Of the cells of which they are means, each a setting, some must be
// above 2.5 % by chance: the standard error of a cell is 0.35 %. Cells above 3.2 %, two standard errors,
// were simulated again with other random numbers and five times the trials, with a standard error
// of 0.16 %; 3.2 % would be the limit of chance there (binomial distribution, 1 % in all cells
// together). TestFalseAlarmsAreExact compares versions in all orders of the rounds, where nothing is left
// to chance, and the share of alarms is at most alpha.
//
//	gated rows                1      3     12     40    200
//	normal                 2.0%   2.1%   2.0%   2.1%   2.0%
//	heavy tails            2.0%   1.8%   2.1%   2.1%   2.2%
//	disturbed rows         1.9%   2.0%   2.0%   2.2%   2.1%
//	disturbed processes    1.9%   1.9%   1.9%   2.0%   2.1%
//	ties                   1.6%   1.8%   1.9%   2.1%   2.1%
//	no variance            0.0%   0.0%   0.0%   0.0%   0.0%
//	linear drift           2.1%   2.0%   2.0%   1.9%   2.0%
//	AR(1) 0.5, sd 2%       1.9%   2.2%   2.0%   2.0%   2.0%
//	AR(1) 0.9, sd 5%       2.0%   1.9%   1.8%   2.0%   2.1%
//	two states             1.9%   1.9%   1.9%   2.1%   2.0%
//	period 40              2.0%   1.9%   2.1%   2.1%   2.1%
//	period 20              1.7%   2.0%   2.2%   2.0%   2.1%
//	period 12              2.0%   2.1%   2.0%   2.0%   2.1%
//	period 8               2.2%   2.0%   1.9%   2.1%   2.0%
//	period 7               1.8%   1.9%   2.1%   2.1%   1.9%
//	period 6               2.0%   2.0%   2.1%   2.1%   1.9%
//	period 5               2.0%   2.0%   2.0%   1.9%   2.0%
//	period 4               2.1%   2.1%   1.9%   2.1%   1.9%
//	period 3               1.9%   2.2%   1.9%   1.9%   1.9%
//	period 2               1.8%   2.1%   2.1%   2.0%   2.0%
//	1197 cells of 2000 trials: at most 3.2%
//	3 cells of 10000 trials: at most 2.2%
//
// A loss of 5 % in one row, whose margin is 2 %, is found in these shares of comparisons under
// normal noise, by the number of gated rows, the number of rounds and the standard deviation
// of a row:
//
//	gated rows, rounds        sd 0.3%  sd 1.0%  sd 1.5%  sd 2.0%  sd 5.0%
//	1, 6                         100%      86%      56%      30%       6%
//	1, 8                         100%     100%      90%      67%      11%
//	1, 10                        100%     100%      95%      74%      16%
//	1, 15                        100%     100%     100%      92%      30%
//	1, 25                        100%     100%     100%      99%      44%
//	1, 10 to 25                  100%     100%     100%      98%      29%
//	3, 6                          66%      46%      30%      16%       4%
//	3, 8                         100%      99%      65%      42%       5%
//	3, 10                        100%     100%      81%      60%       8%
//	3, 15                        100%     100%      99%      82%      14%
//	3, 25                        100%     100%     100%      99%      26%
//	3, 10 to 25                  100%     100%     100%      96%      16%
//	12, 6                         22%      16%      14%      10%       1%
//	12, 8                        100%      87%      42%      22%       2%
//	12, 10                       100%      97%      58%      34%       4%
//	12, 15                       100%     100%      94%      68%       2%
//	12, 25                       100%     100%     100%      96%      15%
//	12, 10 to 25                 100%     100%     100%      91%      12%
//	40, 6                         12%       7%       6%       2%       0%
//	40, 8                        100%      66%      26%       6%       2%
//	40, 10                       100%      93%      43%      14%       1%
//	40, 15                       100%     100%      84%      46%       3%
//	40, 25                       100%     100%     100%      90%       4%
//	40, 10 to 25                 100%     100%     100%      78%       4%
//	200, 6                         2%       2%       1%       0%       0%
//	200, 8                       100%      34%      10%       2%       0%
//	200, 10                      100%      71%      20%       2%       0%
//	200, 15                      100%     100%      64%      26%       0%
//	200, 25                      100%     100%      98%      78%       4%
//	200, 10 to 25                100%     100%      92%      62%       3%
//
// A loss of 3 % in one row, whose margin is 1 % and whose standard deviation is 0.5 %, is found
// in these shares of comparisons with 10 rounds in one row and one of 12 rows, and with 10 to
// 25 rounds in one of 12 rows. The last two columns compare equal versions, in 12 rows and 10
// rounds: shares of comparisons that invent a regression, and that cannot be judged. Drift is
// removed if it takes 20 processes or more for a period. With 12 processes, most losses are still
// found, but most comparisons of equal versions are too noisy. Faster disturbances hide losses, which
// the noise of the rows tells, and invent regressions in fewer than Alpha of comparisons:
//
//	                        1 row  12 rows    10 to 25    invented   too noisy
//	normal                   100%     100%        100%        0.0%          0%
//	heavy tails              100%      99%        100%        0.0%          0%
//	disturbed rows            63%      62%         89%        0.0%         72%
//	disturbed processes       66%      62%         87%        0.0%         30%
//	ties                     100%     100%        100%        0.0%          0%
//	no variance              100%     100%        100%        0.0%          0%
//	linear drift             100%     100%        100%        0.0%          1%
//	AR(1) 0.5, sd 2%          71%      33%         86%        0.0%         99%
//	AR(1) 0.9, sd 5%          66%      30%         81%        0.0%        100%
//	two states                48%      50%         73%        0.0%         60%
//	period 40                100%     100%        100%        0.0%          2%
//	period 20                 99%      99%        100%        0.0%          4%
//	period 12                 97%      78%        100%        0.0%         82%
//	period 8                  42%      13%         64%        0.2%        100%
//	period 7                  22%       7%         26%        0.2%        100%
//	period 6                  14%       2%         11%        0.8%         99%
//	period 5                   7%       3%          3%        0.8%         99%
//	period 4                  16%       8%         11%        0.8%         93%
//	period 3                   8%       3%          2%        1.4%         99%
//	period 2                  14%       6%         12%        0.4%         95%
//
// # What the package refuses to judge
//
// The verdict is CannotJudge, with a [Problem] that states the place and the reason,
// if
//
//   - a file has a line that cannot be parsed, is truncated, or has a run that failed
//     or, unless Options.Partial is set, did not end in PASS;
//   - the new file lacks a benchmark of the old file, or a gated unit if no row is a
//     Regression, unless Options.AllowRemoved is set (Options.FailAdded does the same for the reverse), or
//     GOMAXPROCS differs;
//   - one process wrote several results of a benchmark with a gated unit, unless
//     Options.OneStart is set;
//   - a configuration line (cpu, gpu, model, backend, …) differs between the files or
//     between the samples of a benchmark, unless [Ignored] or Options.Ignore has its
//     key;
//   - the medians of a unit with same= differ by more than its tolerance;
//   - ignored keys put several benchmarks into one row;
//   - a value is NaN or infinite, or a gated value is negative, or the median of the old
//     values is 0 and higher is better;
//   - Unit lines contradict each other, or a margin, direction or tolerance is invalid;
//   - there are too few samples;
//   - no unit is gated.
//
// The package pools no rows. If lower is better, a baseline
// of 0 allows only 0: fail-% from 0 to 3 is a regression.
package gate
