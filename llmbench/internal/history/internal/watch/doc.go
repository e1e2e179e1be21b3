// Package watch decides, night by night, whether series of measurements have changed.
//
// A value is the logarithm of a measurement, with its sign chosen so that a larger value is worse. All series are of
// one machine. In each night, the part that they share is subtracted from them. The shared part is the weighted
// median of the series' distances from their baselines. It is watched as a series of its own, so that a slow
// machine can be told apart from a slow version. If this part is out of line, reruns of several series tell whether
// it still is. That may be a slow night or a change of all series. It counts as a change if the machine had no other
// slow night among the last Options.Nights nights. After a change of all series the new level has no baseline for some
// nights: a night that is out of line by what the series share is told then, too, and five in a row are a change. If most series change at once and others stay where they are, the change
// is not subtracted from these.
//
// The baseline of a series is its last 60 nights without outliers. It does not reach back beyond the series'
// last change. A t-test compares the last k nights with the nights before them, for several values of k. A
// night counts as at most about three standard deviations from the baseline, and the test allows for outliers among
// the k nights; their frequency is estimated from the past of all series. A single night is therefore never
// enough for an alarm. The night is reported as suspect instead, and reruns are requested, which count as
// further nights. Five suspect nights in a row are a change. After a slow night it is unknown whether the machine is
// still slow when series are rerun. So series without a finding are rerun as well, and what these share is subtracted
// from all reruns. Without such controls the whole shared part of the night is subtracted, which may hide a change.
//
// The rate of false alarms is controlled over all comparisons of a night together by Bonferroni's method: the
// allowed probability is divided among the series, the part that they share, and the values of k. That would be too
// strict, because the windows of k nights overlap and an alarm is raised only once. So each comparison may spend more
// than its share; TestSimulate shows how much more is safe. On average, at most one of Options.Nights nights
// has a false alarm in each of the test's scenarios: normal noise, slow nights, outliers, and a machine that
// drifts. If reruns of slow nights are slow, too, there are also false alarms about all series: on average, in at
// most one of Options.Nights nights.
package watch
