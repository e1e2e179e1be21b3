// Package bisect finds the commit at which a program became worse, although each measurement of the program is
// noisy.
//
// A Search knows a row of commits: a good one, candidates, and a bad one, which is worse than the good one by
// more than a margin. It says which two commits to measure next, as a pair, and takes the difference of the
// pair: the logarithm of new / old, with its sign chosen so that a larger difference is worse.
//
// # Search
//
// The Search keeps, for each candidate, the probability that it is the first commit that is worse than allowed.
// At the start all candidates are equally probable. Bayes' rule changes the probabilities after each pair. The
// next pair compares the good commit with the candidate whose result is expected to tell most, which is the
// mutual information of the result and the candidate's state, divided by what the pair costs. This is the
// probabilistic bisection of Horstein (1963) and of Jedynak, Frazier and Sznitman, "Twenty questions with noise"
// (https://doi.org/10.1239/jap/1331216837), who show that choosing each question by its expected information is
// the best policy. Ben-Or and Hassidim (https://doi.org/10.1109/FOCS.2008.58) give the number of questions that
// a noisy bisection needs.
//
// A result is a number rather than yes or no, so clear results count more than doubtful ones. The model of a
// result: a commit before the first worse one mostly equals the good commit, and a later one mostly has the
// level of the bad commit. Both may also have any other level on their side of the margin, so that a second
// change does not mislead the search. The noise has a Student's t distribution with five degrees of freedom, so
// that a disturbed process has little influence. Its scale is unknown.
//
// # Confirmation
//
// The probabilities are only as good as the model, so they name no commit. If one candidate has a probability of
// Enough, it is compared with its predecessor, in new pairs. A bet judges these pairs: a wealth that begins with
// 1 and is multiplied by 1+b if the candidate of a pair is worse than its margin, and otherwise by 1-b. The
// stake b depends on the size of the difference, but not on its sign. If the candidate is worse by exactly the
// margin, the random order of a pair makes both signs equally likely, so the wealth does not grow on average,
// and it exceeds 1/alpha with a probability of at most alpha, no matter when one looks (Ville's inequality; see
// Ramdas, Ruf, Larsson and Koolen, https://arxiv.org/abs/2009.03167). If the candidate is worse by less, or
// better, that is rarer still, provided that large differences between equal versions are rarer than small ones.
// The bets of all candidates of one search share alpha: the first candidate has four fifths of it, the second
// one a tenth, and each further one half the share of the one before.
//
// So the probability that a search names a commit that is not worse than its predecessor by more than the margin
// is at most alpha. That needs none of the assumptions of the model, but it needs noise that is symmetric: noise of
// different skew in the two versions breaks it. TestSimulate prints how often a Search and a plain bisection find the
// right commit, and how many pairs each takes; HISTORY.md of package gate has figures.
package bisect
