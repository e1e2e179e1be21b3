// Package engine runs containers on the Docker engine of this machine, through
// testcontainers-go. It does not know what runs in the containers. It adds what a
// benchmark needs: the container's own address beside a port on 127.0.0.1, a
// notice as soon as a container ends, and the removal of containers whose process
// was killed.
//
// Each container has the label [LabelOwner], which names a lock file in the user's
// cache folder. The process that created the container holds the lock as long as
// the process lives. The first use of the engine in a process removes the
// containers whose lock is free. If the image of testcontainers' reaper
// (https://golang.testcontainers.org/features/garbage_collector/) is on the
// machine, the reaper also runs, and removes them within seconds.
//
// The package writes nothing to the standard streams.
package engine
