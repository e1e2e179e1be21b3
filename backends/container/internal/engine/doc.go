// Package engine runs containers on the Docker engine of this machine, through
// testcontainers-go, and knows nothing of what runs in them. What it adds is what
// a benchmark needs: the engine's address of a container beside a port on
// 127.0.0.1, an end that is noticed at once, and containers of runs that were
// killed.
//
// Each container has the label [LabelOwner]: a folder in the user's cache and a
// file in that, which the process that made the container holds locked as long
// as it lives. The first use of the engine in a process removes the containers
// whose file is locked no more. Where the image of testcontainers' reaper
// (https://golang.testcontainers.org/features/garbage_collector/) is on the
// machine, that runs too, and removes them within seconds.
//
// Nothing is written to the standard streams.
package engine
