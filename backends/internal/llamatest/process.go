package llamatest

import "time"

// stopDelay is the time between SIGTERM and SIGKILL. It is short because
// llama-server waits for open streams on SIGTERM, and sends nothing on them.
const stopDelay = time.Second

// A process is a started llama-server, in a chroot or in a container.
type process struct {
	done chan struct{} // closed when the server has ended
	err  error         // how the server ended; set before done is closed
	stop func()        // ends the server, by SIGKILL after stopDelay, and waits for its end
}
