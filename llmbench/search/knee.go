package search

import "fmt"

// A Point is what a closed loop of that many users got: Throughput in anything per
// second, Latency in seconds or any other measure of time.
type Point struct {
	Load                float64
	Throughput, Latency float64
}

// Saturated reports whether the last of points, which are in the order of their
// loads, has less than gain more throughput than the one before it, as a share of
// that: more load is then more waiting.
func Saturated(points []Point, gain float64) bool {
	n := len(points)
	return n > 1 && points[n-1].Throughput < points[n-2].Throughput*(1+gain)
}

// Knee returns the index of the point with the greatest power, which is throughput
// over latency: below it a server has users to spare for, and above it they wait
// for each other (L. Kleinrock, "Power and deterministic rules of thumb for
// probabilistic problems in computer communications", ICC 1979). Of equal points
// it is the first.
//
// The points are a sweep that went on until it was [Saturated] by gain. If it is
// not, or if a point has no throughput or no latency, the error wraps
// [ErrCannotJudge].
func Knee(points []Point, gain float64) (int, error) {
	best, most := 0, 0.0
	for i, p := range points {
		switch {
		case !(p.Throughput > 0 && p.Latency > 0):
			return 0, fmt.Errorf("%w: at a load of %.4g throughput %v and latency %v; want both above 0", ErrCannotJudge, p.Load, p.Throughput, p.Latency)
		case i > 0 && p.Load <= points[i-1].Load:
			return 0, fmt.Errorf("%w: a load of %.4g after %.4g; want them in order", ErrCannotJudge, p.Load, points[i-1].Load)
		}
		if power := p.Throughput / p.Latency; power > most {
			best, most = i, power
		}
	}
	n := len(points)
	if n < 2 {
		return 0, fmt.Errorf("%w: %d loads; want two or more", ErrCannotJudge, n)
	}
	if last, before := points[n-1], points[n-2]; !Saturated(points, gain) {
		return 0, fmt.Errorf("%w: throughput still rises by %.4g%% or more at the highest of %d loads: from %.4g at a load of %.4g to %.4g at %.4g",
			ErrCannotJudge, 100*gain, n, before.Throughput, before.Load, last.Throughput, last.Load)
	}
	return best, nil
}
