module github.com/seed-2b9cec6d/llmbench/llmbench/sse/ssetest/peers

go 1.26.0

require (
	github.com/launchdarkly/eventsource v1.11.0
	github.com/openai/openai-go/v3 v3.99.0
	github.com/r3labs/sse/v2 v2.10.0
	github.com/sashabaranov/go-openai v1.43.0
	github.com/seed-2b9cec6d/llmbench v0.0.0
	github.com/tmaxmax/go-sse v0.12.0
	gopkg.in/cenkalti/backoff.v1 v1.1.0
)

require (
	github.com/aws/smithy-go/aws-http-auth v1.2.2 // indirect
	github.com/coder/websocket v1.8.15 // indirect
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3 // indirect
	github.com/jedib0t/go-pretty/v6 v6.8.3 // indirect
	github.com/kballard/go-shellquote v0.0.0-20180428030007-95032a82bc51 // indirect
	github.com/mattn/go-runewidth v0.0.16 // indirect
	github.com/mitchellh/colorstring v0.0.0-20190213212951-d06e56a500db // indirect
	github.com/rivo/uniseg v0.4.7 // indirect
	github.com/schollz/progressbar/v3 v3.19.1 // indirect
	github.com/tidwall/gjson v1.20.0 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.1 // indirect
	github.com/tidwall/sjson v1.2.5 // indirect
	golang.org/x/net v0.61.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/term v0.47.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace github.com/seed-2b9cec6d/llmbench => ../../../..
