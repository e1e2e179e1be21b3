"""Usage: transformers.serve.py NAME FOLDER ARGUMENT... Runs transformers with the arguments, and with a cache of the Hugging
Face Hub (HF_HUB_CACHE) that has the model in the folder under the name. transformers serve lists the models of that cache."""
import os
import pathlib
import sys

name, folder, sys.argv[1:] = sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3:]
repo = pathlib.Path(os.environ["HF_HUB_CACHE"]) / f"models--{name}"
snapshot = repo / "snapshots" / "0"
snapshot.mkdir(parents=True)
(repo / "refs").mkdir()
(repo / "refs" / "main").write_text("0")
for file in folder.iterdir():
    (snapshot / file.name).symlink_to(file)

from transformers.cli.transformers import main

main()
