package search

import "fmt"

// A Point is the result of one closed loop, with a given number of users. All points of a sweep must use
// the same units.
type Point struct {
	Load       float64 // number of users
	Throughput float64 // for example requests per second
	Latency    float64 // for example seconds
}

// Saturated reports whether the last step of a sweep raised the throughput by less than gain, as a share:
// 0.05 is 5 %. More users then only wait longer. The points must be in increasing order of load.
func Saturated(points []Point, gain float64) bool {
	n := len(points)
	return n > 1 && points[n-1].Throughput < points[n-2].Throughput*(1+gain)
}

// Knee returns the index of the knee of a sweep: the point with the greatest power, which is throughput
// divided by latency. Below the knee a server has free capacity, and above it users wait for each other (L.
// Kleinrock, "Power and deterministic rules of thumb for probabilistic problems in computer
// communications", ICC 1979). If several points have the greatest power, Knee returns the first.
//
// In a closed loop without pauses, the mean latency is the number of users divided by the requests per
// second (Little's law). If Latency is this mean, the power is the square of the throughput divided by the
// number of users. Doubling the users then increases the power only if it multiplies the throughput by more
// than 1.41. The position of the knee depends only on the loads around it. The other definition in use,
// Kneedle (Satopää et al., "Finding a 'Kneedle' in a Haystack", https://doi.org/10.1109/ICDCSW.2011.20),
// scales both axes to the range of the sweep, so that each further load above the knee moves the knee.
//
// The error wraps [ErrCannotJudge] in four cases: the last point has the greatest power, so that the knee
// may be above the highest load; there are fewer than two points; the loads do not increase; or a
// throughput or latency is not above 0.
func Knee(points []Point) (int, error) {
	best, most := 0, 0.0
	for i, p := range points {
		switch {
		case !(p.Throughput > 0 && p.Latency > 0):
			return 0, fmt.Errorf("%w: at a load of %.4g throughput %v and latency %v: want both above 0", ErrCannotJudge, p.Load, p.Throughput, p.Latency)
		case i > 0 && p.Load <= points[i-1].Load:
			return 0, fmt.Errorf("%w: a load of %.4g after %.4g: want increasing loads", ErrCannotJudge, p.Load, points[i-1].Load)
		}
		if power := p.Throughput / p.Latency; power > most {
			best, most = i, power
		}
	}
	switch n := len(points); {
	case n < 2:
		return 0, fmt.Errorf("%w: %d loads: want two or more", ErrCannotJudge, n)
	case best == n-1:
		return 0, fmt.Errorf("%w: throughput / latency is greatest at %.4g, the highest of %d loads: want higher loads", ErrCannotJudge, points[best].Load, n)
	}
	return best, nil
}
