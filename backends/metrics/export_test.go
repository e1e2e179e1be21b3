package metrics

// NewObserver is [Source.Observe] without the environment: watchKV says whether
// the usage of the KV cache is read during a pass.
func NewObserver(s Source, watchKV bool) *Observer {
	return &Observer{source: s, watchKV: watchKV}
}
