"""vllm.serve.py ARGUMENT...: the command vllm. vLLM starts its processes anew on CPUs, so that each imports all modules
again, one after another, which is most of the time of a start. Here they are forked from the first process."""
import multiprocessing

context = multiprocessing.get_context
multiprocessing.get_context = lambda method=None: context("fork" if method == "spawn" else method)

from vllm.entrypoints.cli.main import main

main()
