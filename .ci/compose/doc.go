// Package compose runs scenarios/deploy/compose.yaml on the Docker engine of this machine, by
// docker commands, so that docker compose need not be installed. The go command leaves the package
// out of ./..., as the name of a folder above it begins with a dot:
//
//	make image && go test -v ./.ci/compose
//
// One process at a time runs the tests on a machine. It removes the containers and networks of an
// earlier one that was killed, and its own after SIGINT or SIGTERM.
//
// The tests skip without a Docker engine, unless LLMBENCH_REQUIRE lists docker.
package compose
