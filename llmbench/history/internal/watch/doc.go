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
// The rate of false alarms is controlled over the whole family by Bonferroni's method: over the series, the machines
// and the values of k. The windows of k nights overlap, and an alarm is raised once, so that each comparison may
// spend more than its part; how much more is from TestSimulate. There is at most one night with a false alarm in
// Options.Nights on average, in each of its worlds: normal noise, slow nights, outliers and a drift of the machine.
package watch
