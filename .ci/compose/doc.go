// Package compose runs scenarios/deploy/compose.yaml on the Docker engine of this machine. It uses
// docker commands, so docker compose need not be installed. The pattern ./... does not match this
// package, because the name of a folder above it begins with a dot:
//
//	make image && go test -v ./.ci/compose
//
// Only one process at a time runs the tests on a machine. It removes the containers and networks of
// an earlier process that was killed. After SIGINT or SIGTERM it removes its own.
//
// Without a Docker engine the tests are skipped, unless LLMBENCH_REQUIRE contains docker.
package compose
