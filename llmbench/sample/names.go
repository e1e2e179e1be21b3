package sample

// The names of units in [Units]. A latency without a constant is named like the others: its statistic, the latency, "ns".
const (
	OutputRate     = "output-tok/s"
	SteadyRate     = "steady-output-tok/s"
	TotalRate      = "total-tok/s"
	PromptRate     = "prompt-tok/s"
	OutputCharRate = "output-chars/s"
	PromptCharRate = "prompt-chars/s"
	RequestRate    = "req/s"
	InputRate      = "inputs/s"
	OfferedRate    = "offered-req/s"
	GoodRate       = "good-req/s" // of requests within the SLO
	UserRate       = "user-tok/s" // for each request

	MeanTTFT, P50TTFT, P99TTFT      = "mean-ttft-ns", "p50-ttft-ns", "p99-ttft-ns"
	MeanTTFO, P50TTFO               = "mean-ttfo-ns", "p50-ttfo-ns"
	MeanTPOT, P50TPOT, P99TPOT      = "mean-tpot-ns", "p50-tpot-ns", "p99-tpot-ns"
	MeanITL, P50ITL, P99ITL         = "mean-itl-ns", "p50-itl-ns", "p99-itl-ns"
	MeanTokenITL, P99TokenITL       = "mean-token-itl-ns", "p99-token-itl-ns"
	MeanE2E, P50E2E, P90E2E, P99E2E = "mean-e2e-ns", "p50-e2e-ns", "p90-e2e-ns", "p99-e2e-ns"
	P99Lag                          = "p99-lag-ns"      // how late requests were sent
	P99ReadLag                      = "p99-read-lag-ns" // how late the client read what had arrived

	PromptLength      = "in-tok/req"
	AskedPromptLength = "asked-in-tok/req"
	OutputLength      = "out-tok/req"
	AskedOutputLength = "asked-out-tok/req"
	ReasoningLength   = "reason-tok/req"
	HiddenLength      = "hidden-tok/req" // of reasoning that was not streamed
	VectorLength      = "dimensions"
	DeltaLength       = "tok/delta"
	AcceptLength      = "accept-len"
	AcceptShare       = "accept-%"
	CachedShare       = "cached-%"

	TokenPrice = "price/Mtok" // of a million output tokens

	SessionOutput = "out-tok/session"
	SessionPrice  = "price/session"

	Accuracy        = "accuracy-%"
	CheckedRequests = "checked-req" // the number of answers that were checked
	FailShare       = "fail-%"
	ShedShare       = "shed-%"
	ResentShare     = "resent-%"
	LeftShare       = "left-%"
	ClientError     = "client-err-%" // how much the client may have distorted the other units
	WarmCache       = "warm-cache"   // a control found a warm prefix cache
	ArmsSeed        = "arms-seed"    // the seed of the order in which the passes of several targets took turns
)

// The names of the units that say why figures were withheld.
const (
	BurstShare    = "bursts-%"
	TogetherShare = "together-%"
	UsageError    = "usage-err-%"
	UnreadShare   = "unread-%"
	IdleShare     = "idle-%"
	ClientBound   = "client-bound-%"
)

// The names of units that are not in [Units] and that several packages use: units of scenarios, of a server's own metrics,
// of other tools and of published studies.
const (
	SLORate             = "slo-req/s"
	SLOUsers            = "slo-concurrency"
	SLOUncertifiedRate  = "slo-uncertified-req/s"
	SLOUncertifiedUsers = "slo-uncertified-concurrency"
	KneeUsers           = "knee-concurrency"

	ServerHitShare   = "srv-prefix-hit-%"
	ServerOutputRate = "srv-output-tok/s"
	ServerPromptRate = "srv-prompt-tok/s"
	PerCore          = "srv-req/cpu-s" // requests that a program serves in a second of CPU time

	TokenRate = "tok/s" // of output tokens
	AudioRate = "audio-s/s"
	RunTime   = "run-ns"
)
