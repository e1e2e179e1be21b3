module github.com/seed-2b9cec6d/llmbench

go 1.26.0

require (
	github.com/aclements/go-moremath v0.0.0-20210112150236-f10218a38794
	github.com/dlclark/regexp2/v2 v2.12.0
	github.com/go-json-experiment/json v0.0.0-20260820222146-c27c302e5fc3
	github.com/google/go-cmp v0.7.0
	github.com/jarcoal/httpmock v1.4.2
	golang.org/x/perf v0.0.0-20260908200009-22c9c6c9d4da
	golang.org/x/text v0.43.0
	gotest.tools/v3 v3.5.2
)

tool (
	github.com/seed-2b9cec6d/llmbench/llmbench/cmd/benchgate
	golang.org/x/perf/cmd/benchstat
)
