package mockserver

import "net/http"

// A Usage is what one server received, or several servers together, according to their logs.
type Usage struct {
	// Requests is the number of requests for completions. Full is how many of them were refused with
	// status 429 or 503. Dead is how many came after the server had died.
	Requests, Full, Dead int
	// PromptTokens and CachedTokens are sums over the requests that got a slot. CachedTokens came from the
	// prefix cache.
	PromptTokens, CachedTokens int
	// Waiting is the sum over the requests of the number of other requests that waited when a request
	// arrived. MostWaiting is the largest of these numbers.
	Waiting, MostWaiting int
}

// usageOf returns the usage of a server with the given log.
func usageOf(log []Entry) (u Usage) {
	for _, e := range log {
		u.Requests++
		switch {
		case e.Dead:
			u.Dead++
		case e.Status == http.StatusTooManyRequests || e.Status == http.StatusServiceUnavailable:
			u.Full++
		}
		if e.Admitted >= 0 {
			u.PromptTokens += e.PromptTokens
			u.CachedTokens += e.CachedTokens
		}
		u.Waiting += e.Waiting
		u.MostWaiting = max(u.MostWaiting, e.Waiting)
	}
	return u
}

// Plus returns the usage of the servers of u and v together.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Requests: u.Requests + v.Requests, Full: u.Full + v.Full, Dead: u.Dead + v.Dead,
		PromptTokens: u.PromptTokens + v.PromptTokens, CachedTokens: u.CachedTokens + v.CachedTokens,
		Waiting: u.Waiting + v.Waiting, MostWaiting: max(u.MostWaiting, v.MostWaiting),
	}
}

// HitRate returns CachedTokens / PromptTokens, from 0 to 1. It is 0 if there are no prompt tokens.
func (u Usage) HitRate() float64 {
	if u.PromptTokens == 0 {
		return 0
	}
	return float64(u.CachedTokens) / float64(u.PromptTokens)
}

// MeanWaiting returns the mean number of requests that waited when a request arrived at a server that was
// not dead. It is 0 if there is no such request.
func (u Usage) MeanWaiting() float64 {
	if u.Requests == u.Dead {
		return 0
	}
	return float64(u.Waiting) / float64(u.Requests-u.Dead)
}

// Imbalance returns how unevenly requests were distributed over replicas: the largest number of requests
// of a replica, divided by the mean. It is 1 if all replicas received the same number, and 0 if none
// received a request.
func Imbalance(replicas []Usage) float64 {
	most, sum := 0, 0
	for _, u := range replicas {
		most = max(most, u.Requests)
		sum += u.Requests
	}
	if sum == 0 {
		return 0
	}
	return float64(most) * float64(len(replicas)) / float64(sum)
}
