"""llamacpp.py PORT MODEL [KEY]: llama.cpp's HTTP server, from the wheel xllamacpp, with four slots."""
import signal
import sys

import xllamacpp

p = xllamacpp.CommonParams()
p.hostnames, p.port, p.model.path = ["127.0.0.1"], int(sys.argv[1]), sys.argv[2]
p.n_parallel, p.n_ctx, p.endpoint_metrics = 4, 4 * 4096, True
p.cpuparams.n_threads = p.cpuparams_batch.n_threads = 1
p.api_keys = sys.argv[3:]
server = xllamacpp.Server(p)
print("listening at", server.listening_address, flush=True)
signal.pause()
