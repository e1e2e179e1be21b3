// Package watch decides night by night whether series of measurements moved.
//
// A value is the logarithm of a measurement, with the sign that makes a larger value worse. What all series of a
// machine share in a night is taken out: the weighted median of their distances from their baselines. The shared part
// is a series of its own, so that a slow machine is told apart from a slow version.
//
// The baseline of a series is its last 60 nights since it last moved, without outliers. The last k nights are compared
// with the nights before them by a t-test, for several k. A night counts as at most three standard deviations, and the
// test allows for outliers among the k nights; how frequent they are comes from the past of all series. A
// single night is therefore not enough: it is suspect, and asks for reruns, which count as further nights.
//
// The rate of false alarms is controlled over the whole family by Bonferroni's method: over series, machines and
// values of k, and for the t-test and the outliers. In each night the probability of any false alarm is at most
// 1 / Options.Nights, so that there is at most one such night in Options.Nights on average.
package watch
