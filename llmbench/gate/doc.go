// Package gate decides whether new benchmark results are worse than old ones by
// more than is allowed. It compares files in the Go benchmark format, with
// golang.org/x/perf. It does not know what was measured.
//
// [Compare] reads two files and returns a [Report]. The report has a row for each unit of each benchmark,
// and one verdict for all rows: Pass, Regression or CannotJudge. The two files, old and new, are called the
// sides of the comparison.
//
// # Margins
//
// A unit is gated, which means that the package judges its rows, if a Unit line gives it a direction and a
// margin. Unit lines may be in either file, or in a separate file of units:
//
//	Unit output-tok/s better=higher gate=2%
//	Unit p50-ttft-ns better=lower gate=5%
//	Unit mean-tpot-ns better=lower gate=5%,0.5ms
//
// A margin is a percentage of the old median, an amount such as 0.5ms, or the larger one of both. An amount counts as its
// share of the old median. ns/op, B/op, allocs/op and MB/s need no better=. A unit without a margin is shown but not judged.
// benchstat reads such lines too; it ignores gate= and same=. If no unit has a margin, those four units have a default
// margin of 5 %, and [Report].Defaults and the verdict name them.
//
// # What must be equal
//
// Some units describe what was measured rather than how well it went, such as the mean length of an answer.
// The key same= gives such a unit a tolerance: a percentage of the larger median, or an absolute amount.
//
//	Unit out-tok/req same=2%
//	Unit cached-% same=5
//
// If the two medians of such a unit differ by more than the tolerance in a benchmark that has a gated unit,
// the verdict is CannotJudge. Of a percentage of which less is better, such as fail-% and shed-%, the means are compared:
// the results of a benchmark have equally many requests, so the mean is the share of all requests. A result without a
// value of the unit counts as 0. While samples are still
// being added, differing medians cause a verdict only at a look (see Looks); between looks they only
// prevent an early Pass.
//
// # Pairs
//
// Samples should be taken in pairs. A pair is one old and one new sample, taken one after the other in
// random order, each from a fresh start of the measured program. One such pair is also called a round,
// because all benchmarks run in it. Options.NewFirst says that samples are pairs; benchgate ab takes them
// this way. The old samples are shifted by the margin: multiplied by 1+margin if lower is better, by
// 1-margin if higher is better. The test therefore asks whether new is worse than allowed, not whether new
// differs.
//
// The test is a permutation test. If new is worse by exactly the margin, only the random order decides
// which sample of a pair is called new, so each pair's difference could equally well have the other sign.
// The statistic of a row is the mean of its differences divided by their root mean square. Differences
// whose absolute value is more than twice the median of the absolute values count as twice that median, so
// that a few disturbed processes cannot hide a change. The p-value is the share of all 2^n exchanges of old
// and new after which the statistic is at least as large. For more than 12 pairs, a group of 4096 exchanges
// is used instead of all. Disturbances that affect both samples of a pair cancel. A steady drift cancels
// too: half the change from the round before to the round after is subtracted from each difference, if that
// makes the differences spread less.
// Exchanges change neither the limit of the differences, nor the estimate of the drift, nor the decision
// whether to subtract the drift. The test is therefore exact for every disturbance of the machine that does
// not depend on which version runs, even for one with the period of a round, because the order is random.
// If new is better, or worse by less than the margin, false alarms are rarer, provided that large
// differences between equal versions are rarer than small ones.
//
// Limiting the differences has a price: the test compares typical samples. A change that affects only few
// processes, such as one start in five that is much slower, looks like a disturbance.
//
// The p-values are adjusted for all gated rows together: the adjusted p-value of a row is the share of
// exchanges of whole rounds after which the largest statistic of any row is at least the row's statistic
// (step-down maxT of Westfall and Young). If no row is worse than its margin, the probability of a
// Regression is at most Alpha, 0.025 by default. Holm's method would need 2^n >= rows/Alpha, which is 13
// rounds for 200 rows. With maxT, seven rounds are enough for any number of rows. Six are enough for one row. They are
// refused for more rows: if the others are better than their margins in each of six rounds, two of the 64 exchanges make
// a statistic as large as the only worse row has, and 2/64 is more than 0.025. Eight or more rounds are
// recommended.
//
// The files of benchgate ab have a line before each sample that says of which round it is ([RoundLine]). Compare judges
// two such files as pairs.
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
// Samples that are not pairs are compared by Welch's t-test of trimmed means (Yuen's test) and Holm's
// method. Trimming omits a tenth of the samples at each end. The test allows different numbers of samples
// and different spreads. It is approximate: with 30 against 8 samples that spread four times as much, and
// with 100 against 10 samples that spread five times as much, 2.3 % and 2.0 % of comparisons of one row
// without a margin are false alarms. Among all settings that TestUnpaired of package decide simulates, the
// largest share is 2.5 %, for 12 rows of 30 against 8 samples. The test accounts neither for drift nor for
// noise that is correlated from sample to sample.
//
// # Missing values
//
// A program may withhold a value that it does not trust, so some results may lack a unit. A missing unit
// that is not gated never prevents rows from being judged. Results that lack a gated unit are omitted from
// the row; if samples are pairs, the other result of the pair is omitted too. The report names the row, and
// how many results have the value.
//
// The missing values may be the worst values of their side. If both versions lack values for the same
// reason, the test of pairs stays exact, because a pair is omitted whichever of its results lacks the
// value. If one version lacks more values, the remaining values make that version look better than it is. A
// row is therefore CannotJudge if more than a fifth of the results of a side lack the value; another row
// may still be a Regression. A result may also be missing altogether, for example because the benchmark's output was torn.
// Such a process lacks all units. It is known from other processes of the file, which have the result beside results that
// this process has too. If more than a fifth of the processes of a side lack a benchmark, the verdict is CannotJudge.
// A version that is worse in only so few processes would not be found with
// complete samples either, because these processes would count as disturbed. While samples are still being
// added, such a row is undecided. A row that is missing in all new results is undecided, too.
//
// The following table is the output of TestWithheld of package decide. One value in ten is 30 % larger than
// the others, and such values are withheld on both sides, or on one side. The shares are of 2,000
// comparisons of ten pairs, with a standard deviation of 1 % and a margin of 2 %. The first column is the
// share of comparisons that cannot be judged. The other columns are the shares of the remaining comparisons
// that find a regression. The 5.8 % for values that only old lacks would be 2.5 % if both sides lacked
// them.
//
//	withheld               refused     equal  2% worse  5% worse
//	nothing                   0.0%      0.0%      2.8%     38.5%
//	on both sides            12.4%      0.0%      2.2%     98.8%
//	only old                  6.6%      0.0%      5.8%     98.7%
//	only new                  6.3%      0.0%      1.3%     38.1%
//
// # Reasons for missing values
//
// A unit may say that values are missing in the results that have it, and whose doing that is:
//
//	Unit bursts-% better=lower withheld=server says=buffers-streams:come-in-bursts
//
// Of such a unit, a value above 0 is a mark. Marks are tested like the values of a gated unit without a margin: if they are
// pairs, by exchanges of rounds, in one family with all other rows, and otherwise by Fisher's exact test. If new has more
// marks, the row is a Regression for withheld=server, and CannotJudge for withheld=client. A result without the mark counts
// only if it has a value of a gated unit that no result with the mark has. Otherwise its round is omitted.
//
// While samples are being added, marks are also tested after each round. If the versions are equal, each round in which
// exactly one side has the mark is a fair coin. A fifth of what is left of Alpha at the first mark is divided among the
// rows with marks in the order of their first marks. The first row is found if new has the mark in the first eight such
// rounds (2^-8 is 0.4 %), the second one needs at least eleven. The looks have the other four fifths of Alpha.
// TestWithheldFalseAlarms compares versions in all orders of the rounds: of 1024 orders, 0 to 16 are false alarms, at most
// 1.6 %.
//
// # Budgets
//
// A budget is a limit for the median of the new values, max= or min=, whatever the old values are. The sign test decides
// whether the median is beyond the limit, which makes the row a Regression, or within, which makes it NoWorse. Otherwise the
// row is CannotJudge. The test is exact if the samples are independent; it does not depend on their distribution. Rows with
// budgets are tested like proportions: beside other rows they get a fifth of Alpha, by Holm's method.
//
//	Unit p99-ttft-ns better=lower max=2ms
//
// # Proportions
//
// A margin in percentage points is for a unit that is a percentage of observations, such as the share of
// right answers:
//
//	Unit accuracy-% better=higher gate=2pp of=checked-req apart=question-set
//
// The unit after of= is the number of observations. The counts of all samples of a side are added, and
// compared by the exact unconditional test of two binomial proportions with the score of Farrington and
// Manning (Chan, 1998). Its p-value is the largest over a confidence interval of the unknown rate (Berger
// and Boos, 1994). NoWorse is found by the same test in the other direction. If there are also other gated
// rows, rows of proportions get a fifth of Alpha, and the other rows get four fifths. Holm's method divides
// the fifth among the rows of proportions. The order of the samples does not matter.
//
// Counts may be added only if the observations are independent. A server with greedy sampling repeats its
// answer to a question, so ten processes that ask the same questions make only one observation per
// question. Each process must therefore ask different questions. The unit after apart= identifies the
// questions: if two samples of a side have the same value of this unit, the verdict is CannotJudge. The two
// samples of a pair may have the same questions. The test does not make use of that, and is conservative
// then.
//
// A row is CannotJudge, unless it is a Regression, if its counts allow an error of more than the margin,
// whatever Options.RequireQuiet is. The error is Row.Noise. It comes from the exact test, and is above 0
// even if all answers are right.
//
// The following table is the output of TestProportions of package decide with LLMBENCH_FULL=1. It shows the
// shares of comparisons that find a regression, with a margin of 2 percentage points, 10 samples of 200
// questions on each side, and the looks of benchgate ab. The first two lines come from 2,000 comparisons
// for each accuracy, the other lines from 500. "Other rows" means that there are also gated rows that are
// not proportions. The last line shows why equal questions are refused: each side has 200 answers, and
// counts each of them ten times.
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
// benchgate ab compares after each round. If Options.Planned is set, a Regression can be found only at
// certain numbers of rounds, the looks, which Options.Looks returns: after eight tenths of the planned
// rounds, at the end of the planned rounds and, if Options.Max is larger, each time the number of rounds
// has grown by two fifths, up to Max. Every look but the last spends a fifth of Alpha, or less if there are
// more than five looks; the last look spends the rest. The sum of these parts limits the probability of a
// false alarm (Bonferroni). A look is omitted if its part of Alpha is less than 1/2^n, because no test of n
// rounds could reach it. The comparison is settled, which means that it ends, as soon as a Regression is
// found or no row is undecided. A row is decided if it is NoWorse at a look, or if it could not become a
// Regression even if all further rounds were worse.
//
// # Verdicts of rows
//
// A row is a Regression if its adjusted p-value is at most the Alpha of the look. Otherwise it is NoWorse
// if the samples show that it is better, or worse by at most its margin: [Row].Bound, the confidence bound
// of its change, is within the margin.
//
// Otherwise nothing is shown about the row. It is then CannotJudge in these cases:
//
//   - the change is worse than the margin by more than the noise, but not shown to be: the samples are too few
//     ([Row].Few), and Row.Wanted is about the number that would show it;
//   - no regression would be found in samples as noisy as these, however large;
//   - Options.RequireQuiet is set, as in the command benchgate, and the noise is larger than the margin ([Row].Wanted is
//     about the number of samples it would need);
//   - too many results lack its unit ([Row].Lacks).
//
// Otherwise it is Pass, and [Row].Detectable is the change that would have been found in 80 % of comparisons. A passing
// report states the largest one.
//
// If one row is a Regression, the verdict is Regression, however noisy the other rows are. Otherwise, one
// row that is CannotJudge makes the verdict CannotJudge. Options.RequireNoWorse also requires that each row
// is NoWorse.
//
// # Simulations
//
// The tables in this section are the output of
//
//	LLMBENCH_FULL=1 go test -timeout=2h ./llmbench/gate/internal/decide
//
// They simulate benchgate ab with its looks and its rule for noise. In "disturbed rows", one value in 20 is
// 30 % larger. In "disturbed processes" and from "linear drift" on, all rows of a process share a factor:
// 1.3 in one process of 20, a drift of 10 %, correlated noise, a machine that changes between two states
// that differ by 10 %, or a sine with an amplitude of 10 % whose period is the given number of processes.
//
// False alarms are most frequent in comparisons of equal versions with a margin of 0. The percentages are
// means over 6, 10, 15 and 25 rounds and over standard deviations of a row of 0.3, 1 and 5 %; their
// standard error is 0.1 %. Each setting that a mean consists of is called a cell. The standard error of a
// cell is 0.35 %, so some cells must be above 2.5 % by chance. Cells above 3.2 %, two standard errors, were
// simulated again with other random numbers and five times the trials, which gives a standard error of 0.16
// %. For these, 3.2 % is the limit that chance alone exceeds in 1 % of simulations of all cells together
// (binomial distribution). TestFalseAlarmsAreExact compares versions in all possible orders of the rounds,
// where nothing is left to chance; the share of alarms is at most alpha.
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
// The next table shows how often a loss of 5 % in one row, whose margin is 2 %, is found under normal
// noise. Its lines are numbers of gated rows and of rounds, and its columns are standard deviations of a
// row:
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
// The last table shows how often a loss of 3 % in one row is found; the row's margin is 1 % and its
// standard deviation 0.5 %. The first two columns are for 10 rounds, with one row and with 12 rows; the
// third column is for 10 to 25 rounds with 12 rows. The last two columns compare equal versions with 12
// rows and 10 rounds: the share of comparisons that find a false regression, and the share that cannot be
// judged. Drift is removed if its period is 20 processes or more. With a period of 12 processes, most
// losses are still found, but most comparisons of equal versions are too noisy. Faster disturbances hide
// losses, which the noise of the rows reveals, and cause false regressions in fewer than Alpha of
// comparisons:
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
// The verdict is CannotJudge, with a [Problem] that gives the position and the reason, if
//
//   - a file has a line that visibly holds a result or a Unit line but is none, because something was printed on the same
//     line (package benchline has the rule);
//   - a file is truncated, or has a run that failed or, unless Options.Partial is set, did not end in PASS;
//   - more than a fifth of the processes of a side have no result of a benchmark;
//   - the new file lacks a benchmark of the old file, unless Options.AllowRemoved is set, or a gated unit
//     of a benchmark, unless the option is set or a row is a Regression (Options.FailAdded does the same
//     for what the old file lacks);
//   - GOMAXPROCS differs;
//   - one process wrote several results of a benchmark with a gated unit, and they cannot be folded: they are of the only
//     process of their side, some lack a unit, or counts of observations are added (of=); Options.OneStart accepts them.
//     Otherwise the results of each process count as one sample, their mean;
//   - a configuration line (cpu, gpu, model, backend, …) differs between the files or between the samples
//     of a benchmark, unless its key is in [Ignored] or Options.Ignore;
//   - the medians of a unit with same= differ by more than its tolerance;
//   - ignored keys put several benchmarks into one row;
//   - a value is NaN or infinite, or, unless the margin is an amount, a gated value is negative, or the median of the
//     old values is 0 and higher is better;
//   - Unit lines contradict each other, or a margin, direction or tolerance is invalid;
//   - there are too few samples;
//   - no unit is gated, and the results have no unit with a default margin;
//   - no gated row is in both files, unless Options.EmptyOld is set and old has no gated row either, or figures were withheld
//     more often on one side.
//
// Rows are never pooled. If lower is better, a baseline of 0 allows only 0: a fail-% that goes from 0 to 3
// is a regression.
package gate
