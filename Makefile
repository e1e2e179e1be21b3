.PHONY: help check form test race lint rooms docs fuzz bench stat profiles error canary ci noise image release
help:  ## list the targets
	@sed -n 's/^\([a-z]*\): .*## /\1	/p' Makefile | expand -t 10
check: form rooms docs ## form, rooms, documents and short tests; within three minutes with warm caches
	go test -short -vet=off -p=4 ./...
form:  ## gofmt and go vet
	@test -z "$$(gofmt -l .)" || { echo "not gofmt-ed: $$(gofmt -l .)"; exit 1; }
	go vet ./...
test:  ## all tests
	go test ./...
race:  ## tests with the race detector
	go test -race ./llmbench/... ./mockserver/...
lint: form ## form, and staticcheck
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
rooms: ## the size of packages and functions, and circles of files
	go run ./.ci/rooms
docs:  ## documents against the code
	go test ./.ci/docs
fuzz:  ## each fuzz target for 15 seconds
	.ci/fuzz 15s
bench: ## the main job, on the simulated server
	go test -run='^$$' -bench=. -benchtime=1x ./scenarios
stat:  ## the main job, read by benchstat
	go test -run='^$$' -bench=. -benchtime=1x ./scenarios | go tool benchstat /dev/stdin
profiles: ## fit the profiles of measured servers again
	go run ./mockserver/cmd/calibrate mockserver/internal/profiles/*.json && go test ./mockserver/internal/calibrate -run Accuracy -update
error: ## measure the accuracy of the harness
	go test -run='^$$' -bench=Error -benchtime=1x ./scenarios
canary: ## the gate must find a simulated regression
	BENCHGATE_CANARY=1 go test -v -count=1 -run=Canary ./llmbench/cmd/benchgate
ci:    ## every check that a change has to pass
	.ci/run
noise: ## every check, beside a busy machine
	.ci/noise .ci/run
release: ## the programs that need no Go, for six platforms or GOOS=linux GOARCH=arm64, with checksums, in dist
	rm -rf dist
	PLATFORMS="$(if $(GOOS),$(GOOS)/$(or $(GOARCH),$(shell go env GOARCH)),$(PLATFORMS))" .ci/release
image: ## the image of the scenarios and the simulated server
	.ci/image
