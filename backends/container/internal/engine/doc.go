// Package engine runs containers on the Docker engine of this machine, through testcontainers-go. It does
// not know what runs in the containers. It adds what a benchmark needs: access to the container's own
// address in addition to a port on 127.0.0.1, a notification as soon as a container exits, and the removal
// of containers whose process was killed.
//
// Each container has the label [LabelOwner], which names a lock file in the user's cache folder. The
// process that created the container holds the lock as long as it lives. When a process uses the engine for
// the first time, it removes the containers whose lock nobody holds. If the image of testcontainers' reaper
// (https://golang.testcontainers.org/features/garbage_collector/) is on the machine, the reaper runs too,
// and removes such containers within seconds.
//
// The package writes nothing to the standard streams.
package engine
