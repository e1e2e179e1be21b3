.PHONY: test race lint rooms docs fuzz bench stat error profiles canary ci noise image
test:  ; go test ./...
race:  ; go test -race ./llmbench/... ./mockserver/...
lint:  ; test -z "$$(gofmt -l .)" && go vet ./... && go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...
rooms: ; go run ./.ci/rooms
docs:  ; go test ./.ci/docs
fuzz:  ; .ci/fuzz 15s
bench: ; go test -run='^$$' -bench=. -benchtime=1x ./scenarios
stat:  ; go test -run='^$$' -bench=. -benchtime=1x ./scenarios | go tool benchstat /dev/stdin
profiles: ; go run ./mockserver/cmd/calibrate mockserver/profiles/*.json && go test ./mockserver/calibrate -run Accuracy -update
error: ; go test -run='^$$' -bench=Error -benchtime=1x ./scenarios
canary: ; BENCHGATE_CANARY=1 go test -v -count=1 -run=Canary ./llmbench/cmd/benchgate
ci:    ; .ci/run
noise: ; .ci/noise .ci/run
image: ; .ci/image
