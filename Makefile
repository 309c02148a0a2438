# Shortcuts; each line can be typed as it stands. Without make: read it as a list.
.PHONY: build test lint fmt ci bench demo jaeger

build:
	CGO_ENABLED=0 go build -trimpath -o bin/ ./cmd/...

test:
	go test ./...

lint:
	go tool -modfile=tools/go.mod golangci-lint run ./...

fmt:
	go tool -modfile=tools/go.mod gofumpt -l -w .

ci:
	.ci/run

bench:
	go run ./test/bench

demo:
	go run ./cmd/hook-router demo

jaeger:
	test/jaeger/build
	test/jaeger/start
